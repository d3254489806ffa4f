#include "subject.hpp"

#include <filesystem>
#include <fstream>

#include "davit/testing/contract.hpp"

namespace davit::conformance {
namespace {

std::optional<Subject> the_subject;

Error unusable(std::string what) {
  return {Code::invalid_argument, std::move(what)};
}

}  // namespace

Result<Given> read_given(const std::string& path, const std::string& config_file) {
  Given out{path, config_file, {}, {}};
  std::error_code none;
  if (!config_file.empty()) {
    if (std::filesystem::is_directory(config_file, none))
      return unusable(config_file + " is a directory, not a file of settings");
    std::ifstream in(config_file);
    if (!in) return unusable("cannot read " + config_file);
    auto parsed = Config::parse(std::string(std::istreambuf_iterator<char>(in), {}));
    if (!parsed.ok()) return unusable(config_file + ": " + parsed.error().message);
    const auto here = std::filesystem::absolute(config_file).parent_path().string();
    const Config settings = parsed->with("$HERE", here);
    for (auto entry : settings.entries()) {
      const std::string prefix = "conformance.";
      if (entry.key.starts_with(prefix)) {
        entry.key.erase(0, prefix.size());
        out.options.set(entry);
      } else {
        out.config.set(entry);
      }
    }
  }
  if (std::filesystem::is_directory(path, none))
    return unusable(path + " is a directory, not the .so of a plugin");
  return out;
}

std::optional<std::string> load(const Given& given) {
  auto plugin = testing::Loaded::open(given.path);
  if (!plugin.ok()) return plugin.error().message;
  the_subject.emplace(Subject{std::move(*plugin), given.config, given.config_file, given.options});
  return std::nullopt;
}

const Subject& subject() {
  return *the_subject;
}

bool is_volatile() {
  return subject().options.string("in_memory") == "instance";
}

Config config_in(const std::string& directory) {
  return subject().config.with("$TMP", directory);
}

uint64_t random_seed() {
  return TestHost("seed", {}, TestHost::Time::manual).host().random();
}

Fresh::Fresh(const Config& extra, TestHost::Time time)
    : directory_(std::make_shared<testing::TemporaryDirectory>()),
      config_(config_in(directory_->path())) {
  for (const auto& entry : extra.entries()) config_.set(entry);
  bring_up(time);
}

Fresh::Fresh(const Fresh& before, TestHost::Time time)
    : directory_(before.directory_), config_(before.config_) {
  bring_up(time);
}

Fresh::~Fresh() {
  stop();
}

void Fresh::stop() {
  if (instance_ != nullptr && instance_->started()) {
    const auto stopped = instance_->stop();
    EXPECT_TRUE(stopped.ok()) << "the instance does not stop: " << why(stopped);
  }
  instance_.reset();
  neighbours_.reset();
}

void Fresh::bring_up(TestHost::Time time) {
  host_ = std::make_unique<TestHost>("subject", config_, time);
  neighbours_ = std::make_unique<Neighbours>(*host_, subject().options, directory());
  up_ = neighbours_->up();
  instance_ = std::make_unique<Instance>(subject().plugin.plugin(), *host_);
  if (up_.ok()) up_ = instance_->create();
  for (const auto& role : testing::judged_roles()) {
    const void* table = up_.ok() ? instance_->role<void>(role) : nullptr;
    if (table == nullptr) continue;
    if (const auto wrong = testing::faults(role, table); !wrong.empty())
      up_ = Error{Code::failed_precondition, wrong.front()};
  }
  if (up_.ok()) up_ = instance_->wire();
  if (up_.ok()) up_ = instance_->start();
}

}  // namespace davit::conformance
