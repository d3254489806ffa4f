#include "services/process_metrics.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <string>
#include <vector>

#include "services/metrics.hpp"

namespace davit::host {
namespace {

class ProcessMetrics : public testing::Test {
 protected:
  ProcessMetrics() { show_process(metrics_); }
  // -1: it is not shown.
  double value(const std::string& name) const {
    const std::string all = metrics_.expose();
    const size_t at = all.find("\n" + name + " ");
    EXPECT_NE(at, std::string::npos) << name << " in\n" << all;
    return at == std::string::npos ? -1 : std::stod(all.substr(at + name.size() + 2));
  }
  Metrics metrics_;
};

TEST_F(ProcessMetrics, DescriptorsAreCountedAtEachLook) {
  const double before = value("process_open_fds");
  EXPECT_GE(before, 3);
  const int one = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(value("process_open_fds"), before + 1);
  close(one);
  EXPECT_EQ(value("process_open_fds"), before);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(value("process_max_fds"), static_cast<double>(limit.rlim_cur));
}

TEST_F(ProcessMetrics, ProcessorTimeIsWhatTheKernelCounts) {
  const auto used = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  value("process_cpu_seconds_total");
  const double until = used() + 0.05;
  while (used() < until) {
  }
  const double shown = value("process_cpu_seconds_total");
  EXPECT_GE(shown, until - 0.01);
  EXPECT_LE(shown, used() + 0.01) << "what was shown before is not added again";
}

TEST_F(ProcessMetrics, MemoryIsWhatIsResident) {
  const double before = value("process_resident_memory_bytes");
  constexpr size_t size = 64 << 20;
  const std::vector<char> much(size, 'x');
  EXPECT_GE(value("process_resident_memory_bytes"), before + size * 0.9) << much[size / 2];
}

TEST_F(ProcessMetrics, StartIsBeforeNowAndStays) {
  const double started = value("process_start_time_seconds");
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_LE(started, now + 1);
  EXPECT_GT(started, now - 3600) << "this program does not run for an hour";
  EXPECT_EQ(value("process_start_time_seconds"), started);
}

}  // namespace
}  // namespace davit::host
