// An instance of actuator_exec that runs a shell script of the test for each call.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "davit/actuator.hpp"
#include "davit/operation.hpp"
#include "davit/testing/module.hpp"

namespace davit::actuator_exec {

using namespace std::chrono_literals;

// Longer than anything takes on a slow machine.
inline constexpr auto patience = 60s;

// One call, and what has become of it.
class Pending {
 public:
  explicit Pending(Operation op) : operation(std::move(op)) {}

  bool answered(std::chrono::milliseconds within = patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, within, [&] { return answers_ > 0; });
  }
  actuator::Outcome outcome() {
    EXPECT_TRUE(answered()) << "a call has no answer";
    const std::lock_guard lock(mutex_);
    EXPECT_LE(answers_, 1);
    return outcome_;
  }
  // "UNAVAILABLE: it ..." by number; "done" without an error.
  std::string words() {
    const auto o = outcome();
    if (!o.error) return "done";
    return std::to_string(static_cast<int>(o.error->code)) + ": " + o.error->message;
  }
  Code code() {
    const auto o = outcome();
    return o.error ? o.error->code : Code::ok;
  }
  void answer(const actuator::Outcome& outcome) {
    const std::lock_guard lock(mutex_);
    outcome_ = outcome;
    ++answers_;
    changed_.notify_all();
  }
  void event(const actuator::Event& event) {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(answers_, 0) << "an event after the answer";
    events.push_back(event);
  }

  const Operation operation;
  std::vector<actuator::Event> events;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int answers_ = 0;
  actuator::Outcome outcome_;
};

inline const char* const any_cluster =
    R"({"kind":"Cluster","spec":{"providerSpec":{"value":{"apiVersion":"a.example/v1"}}}})";

class Exec : public ::testing::Test {
 protected:
  // The folder of the test is $T in the script.
  Result<> up(const std::string& script, testing::Config config = {}) {
    config.set({"command", std::vector<std::string>{"/bin/sh", "-c", script}});
    return up_with(std::move(config));
  }
  Result<> up_with(testing::Config config) {
    config.set({"environment.T", folder_.path()});
    auto loaded = testing::Loaded::open(ACTUATOR_EXEC_SO);
    EXPECT_TRUE(loaded.ok());
    instance_.reset();  // the one before, whose host goes
    host_.emplace("exec", config);
    instance_.emplace(loaded->plugin(), *host_);
    auto up = instance_->up();
    if (up.ok()) client_ = actuator::Client(instance_->ref(DAVIT_ACTUATOR));
    return up;
  }
  // A script that cannot begin has no test.
  void run(const std::string& script, testing::Config config = {}) {
    const auto began = up(script, std::move(config));
    ASSERT_TRUE(began.ok()) << began.error().message;
  }

  Pending& begin(const std::string& uid = "u-1", bool remove = false,
                 std::chrono::nanoseconds limit = patience,
                 const std::string& cluster = any_cluster) {
    auto& out = calls_.emplace_back(Operation((host_->now() + limit).count()));
    actuator::Call call{"default", "shop", uid, cluster,
                        [&out](const actuator::Event& e) { out.event(e); }};
    const auto done = [&out](const actuator::Outcome& o) { out.answer(o); };
    if (remove) {
      client_.remove(std::move(call), done, out.operation.op());
    } else {
      client_.reconcile(std::move(call), done, out.operation.op());
    }
    return out;
  }
  // The first answer that is not UNAVAILABLE, because a program of before still ends.
  std::string words_later(const std::string& uid = "u-1") {
    std::string words = begin(uid).words();
    for (int i = 0; i < 600 && words.starts_with("14: the program of an earlier call"); ++i) {
      std::this_thread::sleep_for(50ms);
      words = begin(uid).words();
    }
    return words;
  }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string content(const std::string& name) const {
    std::ifstream in(path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name)) << content;
  }
  void wait_for(const std::string& name) {
    ASSERT_TRUE(host_->run_until([&] { return std::filesystem::exists(path(name)); }, patience))
        << name;
  }
  // Whether the process has ended; it may be a zombie of somebody else's.
  static bool has_ended(const std::string& pid) {
    std::ifstream in("/proc/" + std::to_string(std::stoi(pid)) + "/stat");
    std::string line;
    if (!std::getline(in, line)) return true;
    return line.substr(line.rfind(')') + 2, 1) == "Z";
  }

  testing::TemporaryDirectory folder_;
  std::optional<testing::TestHost> host_;
  std::deque<Pending> calls_;
  std::optional<testing::Instance> instance_;
  actuator::Client client_;
};

}  // namespace davit::actuator_exec
