// Writes the log to standard error: one line per event, as text or as JSON.
//
//   2026-11-21T02:03:04.123Z info  streamer  stream opened region=us-east-1 kind=deployment
//   {"time":"2026-...","level":"info","instance":"streamer","message":"stream opened",...}
//
// If standard error is the journal of systemd, each event is an entry with fields there, or a line
// with its priority (journal.hpp).
//
// Any thread may log. Lines of different threads do not mix.
#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <davit/abi/services.h>

namespace davit::host {

class Journal;

class Log {
 public:
  // automatic: text, or entries of the journal if standard error is the journal's.
  enum class Format { automatic, text, json };
  using Fields = std::initializer_list<std::pair<std::string_view, std::string>>;
  using Write = std::function<void(std::string_view line)>;  // the line includes its newline

  Log();                      // writes to standard error
  explicit Log(Write write);  // for tests
  ~Log();
  // Changes the level and the format, also while other threads log. [any]
  void set(int32_t level, Format format);

  bool enabled(int32_t level) const { return level >= level_.load(std::memory_order_relaxed); }
  // `instance` is the source of the line. The host's own parts use "host", "rpc", ...
  void write(int32_t level, std::string_view instance, std::string_view message,
             const davit_pair* fields, size_t fields_count);
  void debug(std::string_view instance, std::string_view message, Fields fields = {});
  void info(std::string_view instance, std::string_view message, Fields fields = {});
  void warn(std::string_view instance, std::string_view message, Fields fields = {});
  void error(std::string_view instance, std::string_view message, Fields fields = {});

  // Formats a line with the given time, for tests.
  static std::string render(Format, int64_t unix_ms, int32_t level, std::string_view instance,
                            std::string_view message, const davit_pair* fields,
                            size_t fields_count);

 private:
  void fields(int32_t level, std::string_view instance, std::string_view message, Fields fields);

  std::atomic<int32_t> level_{DAVIT_LOG_INFO};
  std::atomic<Format> format_{Format::automatic};
  Write write_;
  std::unique_ptr<Journal> journal_;  // NULL: standard error is not the journal's
};

}  // namespace davit::host
