#include "davit/testing/host.hpp"

#include "shared.hpp"

namespace davit::testing {

std::string metric_key(std::string_view name, const Pairs& labels) {
  std::string key(name);
  for (const auto& [label, value] : labels) key += "," + label + "=" + value;
  return key;
}

TestHost::TestHost(std::string instance, const Config& config, Time time)
    : TestHost(std::make_shared<Shared>(time == Time::manual), std::move(instance), config) {}

TestHost::TestHost(TestHost& beside, std::string instance, const Config& config)
    : TestHost(beside.shared_, std::move(instance), config) {}

TestHost::TestHost(std::shared_ptr<Shared> shared, std::string instance, const Config& config)
    : shared_(std::move(shared)), own_(std::make_unique<Own>(std::move(instance), config)) {
  own_->abi.owner = this;
  own_->abi.host = {sizeof(davit_host), 0, str(own_->instance), &query_service};
}

TestHost::~TestHost() {
  if (shared_.use_count() == 1) shared_->runtime.shut_down();
}

const davit_host* TestHost::abi() const {
  return &own_->abi.host;
}
std::vector<std::string> TestHost::faults() const {
  return own_->tree.faults();
}

void TestHost::run() {
  shared_->runtime.run();
}
void TestHost::advance(std::chrono::nanoseconds by) {
  shared_->runtime.advance(by.count());
}
bool TestHost::run_until(const std::function<bool()>& done, std::chrono::nanoseconds limit) {
  return shared_->runtime.run_until(done, limit.count());
}
std::chrono::nanoseconds TestHost::now() const {
  return std::chrono::nanoseconds(shared_->runtime.monotonic_ns());
}
void TestHost::seed(uint64_t seed) {
  shared_->runtime.seed(seed);
}
void TestHost::seed_all(uint64_t seed) {
  Runtime::seed_all(seed);
}

void TestHost::add_instance(const std::string& name, davit_instance* self,
                            const davit_plugin* plugin) {
  const std::lock_guard lock(shared_->mutex);
  auto& n = shared_->neighbour_or_new(name);
  n.self = self;
  n.plugin = plugin;
}

void TestHost::add_role(const std::string& name, const std::string& interface_id,
                        davit_instance* self, const void* vtable) {
  const std::lock_guard lock(shared_->mutex);
  shared_->neighbour_or_new(name).roles[interface_id] = {self, vtable, {}};
}

void TestHost::add_service(const std::string& id, const void* service) {
  const std::lock_guard lock(shared_->mutex);
  shared_->services[id] = service;
}

void TestHost::set_credential(const std::string& path, std::string content) {
  const std::lock_guard lock(shared_->mutex);
  shared_->credentials[path] = std::move(content);
}

std::string TestHost::Line::text() const {
  static constexpr const char* levels[] = {"debug", "info", "warn", "error"};
  std::string out = std::string(level >= 0 && level <= 3 ? levels[level] : "?") + ": " + message;
  for (const auto& [key, value] : fields) out += " " + key + "=" + value;
  return out;
}

std::vector<TestHost::Line> TestHost::log() const {
  const std::lock_guard lock(shared_->mutex);
  return own_->log;
}

bool TestHost::logged(std::string_view part) const {
  for (const auto& line : log()) {
    if (line.text().find(part) != std::string::npos) return true;
  }
  return false;
}

double TestHost::metric(const std::string& name, const Pairs& labels) const {
  const std::lock_guard lock(shared_->mutex);
  const auto at = shared_->metrics.find(metric_key(name, labels));
  if (at == shared_->metrics.end()) return 0;
  return at->second.type == DAVIT_HISTOGRAM ? static_cast<double>(at->second.count)
                                            : at->second.value;
}

int32_t TestHost::health() const {
  const std::lock_guard lock(shared_->mutex);
  return own_->health;
}

std::string TestHost::health_reason() const {
  const std::lock_guard lock(shared_->mutex);
  return own_->health_reason;
}

std::string TestHost::shutdown_reason() const {
  const std::lock_guard lock(shared_->mutex);
  return own_->shutdown_reason;
}

std::chrono::nanoseconds TestHost::shutdown_deadline() const {
  const std::lock_guard lock(shared_->mutex);
  return own_->shutdown_deadline;
}

std::string TestHost::state_directory() const {
  return shared_->directory.path() + "/" + own_->instance;
}

}  // namespace davit::testing
