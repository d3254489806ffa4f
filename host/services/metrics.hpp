// Counters, gauges and histograms of the whole process, shown as Prometheus text. A metric lives as
// long as the registry; adding to one is one atomic operation.
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

  // The same name and labels give the same metric. A name that is there with another type, or that
  // Prometheus would not take, gives a metric that is not shown. [any]
  davit_metric* metric(int32_t type, std::string_view name, std::string_view help,
                       const davit_pair* labels, size_t labels_count);
  static void add(davit_metric*, double by);  // counter (by >= 0), gauge
  static void set(davit_metric*, double to);  // gauge; NaN: not shown until it is set again
  static void observe(davit_metric*, double seconds);

  // Called by each expose() first, to bring up to date what nobody tells of by itself; one call at
  // a time. It must not block for long, nor call expose. [any]
  void before_each_look(std::function<void()> measure);

  // Text exposition format 0.0.4, families and series in the order of their names. [any]
  std::string expose() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace davit::host
