// Log lines to standard error, one per event, whole lines from any thread:
//
//   2026-11-21T02:03:04.123Z info  streamer  stream opened region=us-east-1 kind=deployment
//   {"time":"2026-11-21T02:03:04.123Z","level":"info","instance":"streamer","message":"stream
//   opened","region":...}
#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <davit/abi/services.h>

namespace davit::host {

class Log {
 public:
  enum class Format { text, json };
  using Fields = std::initializer_list<std::pair<std::string_view, std::string>>;
  using Write = std::function<void(std::string_view line)>;  // line with its newline

  Log();                      // standard error
  explicit Log(Write write);  // for tests
  // Also while others log. [any]
  void set(int32_t level, Format format);

  bool enabled(int32_t level) const { return level >= level_.load(std::memory_order_relaxed); }
  // instance: who speaks; the host's own parts say "host", "rpc", ...
  void write(int32_t level, std::string_view instance, std::string_view message,
             const davit_pair* fields, size_t fields_count);
  void debug(std::string_view instance, std::string_view message, Fields fields = {});
  void info(std::string_view instance, std::string_view message, Fields fields = {});
  void warn(std::string_view instance, std::string_view message, Fields fields = {});
  void error(std::string_view instance, std::string_view message, Fields fields = {});

  // The line without a clock, for tests.
  static std::string render(Format, int64_t unix_ms, int32_t level, std::string_view instance,
                            std::string_view message, const davit_pair* fields,
                            size_t fields_count);

 private:
  void fields(int32_t level, std::string_view instance, std::string_view message, Fields fields);

  std::atomic<int32_t> level_{DAVIT_LOG_INFO};
  std::atomic<Format> format_{Format::text};
  Write write_;
};

}  // namespace davit::host
