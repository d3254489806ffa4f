#include "assembly/host_settings.hpp"

#include <gtest/gtest.h>

#include "config/config.hpp"

namespace davit::host {
namespace {

using namespace std::chrono_literals;

HostSettings settings_in(const std::string& text, Faults& faults) {
  const Config config = Config::parse(text, "/etc/davit/a.toml", faults);
  return read_host_settings(config, faults);
}

TEST(HostSettings, SayHowLongAStorageMayTakeForACommit) {
  Faults faults;
  EXPECT_EQ(settings_in("", faults).commit_timeout, 30s);
  EXPECT_EQ(settings_in("[host]\ncommit_timeout_ms = 5000\n", faults).commit_timeout, 5s);
  EXPECT_TRUE(faults.empty()) << faults.lines().front();
}

TEST(HostSettings, RefuseATimeInWhichNothingCanBeCommitted) {
  for (const char* value : {"0", "-1", "99", "\"30s\""}) {
    Faults faults;
    settings_in("[host]\ncommit_timeout_ms = " + std::string(value) + "\n", faults);
    ASSERT_EQ(faults.lines().size(), 1u) << value;
    EXPECT_EQ(faults.lines().front().rfind("/etc/davit/a.toml:2: host.commit_timeout_ms: ", 0), 0u)
        << faults.lines().front();
  }
}

}  // namespace
}  // namespace davit::host
