#include "process_metrics.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>

#include <davit/types.hpp>

#include "metrics.hpp"

namespace davit::host {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

double processor_seconds() {
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
  constexpr double microseconds = 1e6;
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / microseconds;
}

double resident_bytes() {
  double size = 0, resident = 0;  // pages
  std::ifstream file("/proc/self/statm");
  if (!(file >> size >> resident)) return not_known;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double open_descriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc/self/fd"), &closedir);
  if (!all) return not_known;
  double count = -1;  // leaves out the descriptor that reads the folder
  while (const dirent* entry = readdir(all.get())) {
    if (entry->d_name[0] != '.') ++count;
  }
  return count;
}

double descriptors_max() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return not_known;
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<double>::infinity()
                                         : static_cast<double>(limit.rlim_cur);
}

// The kernel gives the process's start in ticks since the machine's start, see proc(5).
double started_unix_s() {
  constexpr int fields_before = 19;  // between the name, which may hold spaces, and starttime
  std::string stat, word;
  std::getline(std::ifstream("/proc/self/stat"), stat, '\0');
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  for (int i = 0; i < fields_before; ++i) fields >> word;
  double ticks = 0, machine = 0;
  if (!(fields >> ticks)) return not_known;
  std::ifstream of_machine("/proc/stat");
  while (of_machine >> word && word != "btime") {
  }
  if (!(of_machine >> machine)) return not_known;
  return machine + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

void show_process(Metrics& metrics) {
  const auto make = [&](int32_t type, const char* name, const char* help) {
    return metrics.metric(type, name, help, nullptr, 0);
  };
  davit_metric* const processor = make(DAVIT_COUNTER, "process_cpu_seconds_total",
                                       "processor time, of user and system, in seconds");
  davit_metric* const memory =
      make(DAVIT_GAUGE, "process_resident_memory_bytes", "memory that is resident");
  davit_metric* const descriptors =
      make(DAVIT_GAUGE, "process_open_fds", "file descriptors that are open");
  davit_metric* const most =
      make(DAVIT_GAUGE, "process_max_fds", "file descriptors that may be open");
  Metrics::set(make(DAVIT_GAUGE, "process_start_time_seconds",
                    "when the process was started, in seconds since 1970"),
               started_unix_s());
  metrics.before_each_look([=, counted = 0.0]() mutable {
    const double used = processor_seconds();
    Metrics::add(processor, used - counted);
    counted = std::max(counted, used);
    Metrics::set(memory, resident_bytes());
    Metrics::set(descriptors, open_descriptors());
    Metrics::set(most, descriptors_max());
  });
}

}  // namespace davit::host
