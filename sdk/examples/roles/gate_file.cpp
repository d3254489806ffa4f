// A gate that a file opens: the process stands by until an operator, or a program that elects,
// writes a number into it. The number is the epoch, so whoever writes must raise it each time.
#include <charconv>

#include <davit/gate.hpp>
#include <davit/outstanding.hpp>

namespace {

using davit::Op;
using davit::Result;
using davit::gate::Opened;

class GateFile {
 public:
  using roles = davit::Roles<davit::gate::Role>;

  explicit GateFile(davit::Host host)
      : host_(host),
        strand_(host.strand()),
        timer_(strand_),
        path_(davit::Settings(host).string("path")) {}

  Result<> start(const Op&) {
    strand_.post([this, ticket = open_.begin()] { look(); });
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }
  // Whoever still waits hears that the gate never opens.
  Result<> stop(const Op& op) {
    strand_.post([this, ticket = open_.begin()] {
      stopped_ = true;
      timer_.cancel();
      answer();
    });
    return open_.wait(host_, op);
  }

  // Called on any thread, by each plugin that works behind the gate.
  void wait(Opened opened) {
    strand_.post([this, opened = std::move(opened), ticket = open_.begin()]() mutable {
      waiting_.push_back(std::move(opened));
      if (epoch_ || stopped_) answer();
    });
  }

 private:
  // A disk may be slow: the file is read on the instance's pool.
  void look() {
    host_.blocking("", [this, ticket = open_.begin()] {
      auto content = host_.credential(path_);
      uint64_t epoch = 0;
      if (content.ok()) {
        const std::string_view text = content->view();
        std::from_chars(text.data(), text.data() + text.size(), epoch);
      }
      strand_.post([this, epoch, ticket] { looked(davit::Epoch(epoch)); });
    });
  }
  void looked(davit::Epoch epoch) {
    if (stopped_) return;
    epoch_ = epoch;
    if (!epoch_) return timer_.after(std::chrono::seconds(1), [this] { look(); });
    host_.info("the gate opens", {{"epoch", to_string(epoch_)}});
    answer();
  }
  void answer() {
    for (const Opened& opened : std::exchange(waiting_, {})) opened(epoch_);
  }

  davit::Host host_;
  davit::Strand strand_;
  davit::Timer timer_;
  std::string path_;
  // On the strand.
  std::vector<Opened> waiting_;
  davit::Epoch epoch_{};
  bool stopped_ = false;
  davit::Outstanding open_;
};

}  // namespace

DAVIT_PLUGIN(GateFile, "gate_file", DAVIT_PLUGIN_VERSION, "opens when a file has a number")
