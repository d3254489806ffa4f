// CallMetrics counts the calls of one server by method: how many are open, how many ended with
// which code, and how long calls with one answer took. Calls of methods that are not served count
// as "other", so a caller cannot invent label values. All functions may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <unordered_map>

#include <davit/types.hpp>

#include "method_registry.hpp"

struct davit_metric;

namespace davit::host {

class Metrics;

class CallMetrics {
 public:
  // Make it after all plugins are wired: the registry must be complete.
  CallMetrics(Metrics&, std::string server, const MethodRegistry&);

  // Each call that begins must end once and be gone once. The method is NULL if it is not served.
  void begins(const Method*);
  void ends(const Method*, Code, double seconds);
  void is_gone(const Method*);
  // Counts a call that was refused before it began.
  void refused(const Method* method, Code code) { count(of(method), code); }

 private:
  static constexpr size_t codes = 17;
  struct Series {
    std::string method;
    davit_metric* open = nullptr;
    davit_metric* seconds = nullptr;                        // NULL if the method streams
    std::array<std::atomic<davit_metric*>, codes> ended{};  // by code, once there is one
  };
  Series& of(const Method*);
  void count(Series&, Code);
  davit_metric* metric(int32_t type, const char* name, const char* help, const Series&,
                       const char* code = nullptr);

  Metrics& metrics_;
  const std::string server_;
  std::unordered_map<const Method*, Series> methods_;
};

}  // namespace davit::host
