// A plugin that does in start what its setting `fault` asks for: the faults that a sanitized build
// must report. Each stands in a function of its own, so that the report can be seen to be about it.
#include <memory>
#include <thread>

#include <davit/plugin.hpp>

namespace {

// Kept from the optimiser: what is not used is not done.
volatile int sink = 0;

[[gnu::noinline]] void plant_heap_overflow() {
  const auto four = std::make_unique<int[]>(4);
  volatile int* all = four.get();
  for (int i = 0; i <= 4; ++i) all[i] = i;  // one too many
}

[[gnu::noinline]] void plant_signed_overflow() {
  volatile int largest = std::numeric_limits<int>::max();
  sink = largest + 1;
}

[[gnu::noinline]] void plant_leak() {
  int* volatile lost = new int[100];
  sink = lost != nullptr ? 1 : 0;
  lost = nullptr;
}

int shared_by_two = 0;

[[gnu::noinline]] void plant_race() {
  auto count = [] {
    for (int i = 0; i < 1000; ++i) ++shared_by_two;
  };
  std::thread other(count);
  count();
  other.join();
  sink = shared_by_two;
}

class PlantedFaults {
 public:
  using roles = davit::Roles<>;

  explicit PlantedFaults(davit::Host host) : fault_(davit::Settings(host).string("fault")) {}

  davit::Result<> start(const davit::Op&) {
    if (fault_ == "heap_overflow") plant_heap_overflow();
    if (fault_ == "signed_overflow") plant_signed_overflow();
    if (fault_ == "leak") plant_leak();
    if (fault_ == "race") plant_race();
    return {};
  }

 private:
  std::string fault_;
};

}  // namespace

DAVIT_PLUGIN(PlantedFaults, "planted_faults", DAVIT_PLUGIN_VERSION,
             "faults that a sanitizer must find")
