// Counters, gauges and histograms of the whole process, shown as Prometheus text. Metrics live as
// long as this registry. Adding to a counter or a gauge is one atomic operation.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <davit/abi/services.h>

namespace davit::host {

class Metrics {
 public:
  Metrics();
  ~Metrics();

  // The same name and labels return the same metric. A name that exists with another type, or that
  // Prometheus does not accept, returns a metric that is not shown. [any]
  davit_metric* metric(int32_t type, std::string_view name, std::string_view help,
                       const davit_pair* labels, size_t labels_count);
  static void add(davit_metric*, double by);  // counter (by >= 0), gauge
  static void set(davit_metric*, double to);  // gauge; NaN: hidden until it is set again
  static void observe(davit_metric*, double seconds);

  // Registers a function that expose() calls first, to update values that nothing else updates. The
  // functions run one at a time. They must not block for long, and must not call expose. [any]
  void before_each_look(std::function<void()> measure);

  // The text exposition format 0.0.4; families and series are in the order of their names. [any]
  std::string expose() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace davit::host
