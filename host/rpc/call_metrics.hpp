// What a server's calls look like from outside, by method: how many, how they ended, how long those
// with one answer took, and how many are open. A method that is not served counts as "other":
// labels are never a caller's choice. Any thread.
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
  // The methods that there will ever be: made when all plugins are wired.
  CallMetrics(Metrics&, std::string server, const MethodRegistry&);

  // NULL: not served. Each that begins ends once, and is gone once.
  void begins(const Method*);
  void ends(const Method*, Code, double seconds);
  void is_gone(const Method*);
  // Without having begun.
  void refused(const Method* method, Code code) { count(of(method), code); }

 private:
  static constexpr size_t codes = 17;
  struct Series {
    std::string method;
    davit_metric* open = nullptr;
    davit_metric* seconds = nullptr;                        // none: it streams
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
