#include "metrics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>

#include <davit/types.hpp>

namespace {

// Upper bounds in seconds, from half a millisecond (the time from a commit to the wire) to 60 s.
constexpr std::array<double, 16> bounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                           0.25,   0.5,   1,      2.5,   5,    10,    30,   60};

void atomic_add(std::atomic<double>& value, double by) {
  double now = value.load(std::memory_order_relaxed);
  while (!value.compare_exchange_weak(now, now + by, std::memory_order_relaxed)) {
  }
}

}  // namespace

struct davit_metric {
  int32_t type = 0;
  std::atomic<double> value{0};  // counter, gauge; sum of a histogram
  std::array<std::atomic<uint64_t>, bounds.size() + 1> buckets{};
};

namespace davit::host {
namespace {

struct Family {
  int32_t type = 0;
  std::string help;
  std::map<std::string, std::unique_ptr<davit_metric>> series;  // by rendered labels
};

bool is_metric_name(std::string_view s) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
  };
  return !s.empty() && letter(s.front()) && std::all_of(s.begin(), s.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

std::string escaped(std::string_view s, bool quotes) {
  std::string out;
  for (const char c : s) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\' || (quotes && c == '"')) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string number(double d) {
  if (std::isnan(d)) return "NaN";
  if (std::isinf(d)) return d > 0 ? "+Inf" : "-Inf";
  // The shortest digits that identify the number; without an exponent in the usual range.
  constexpr double small = 1e-5, large = 1e15;
  const double size = std::fabs(d);
  const bool plain = d == 0 || (size >= small && size < large);
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), d,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(text.data(), end.ptr);
}

// A gauge at NaN belongs to something that no longer exists. It is not shown.
bool shown(const davit_metric& m) {
  return m.type != DAVIT_GAUGE || !std::isnan(m.value.load(std::memory_order_relaxed));
}

// Adds the label `le` to the labels of the series.
std::string with_label(const std::string& labels, const std::string& more) {
  return labels.empty() ? "{" + more + "}" : labels.substr(0, labels.size() - 1) + "," + more + "}";
}

void expose_histogram(std::string& out, const std::string& name, const std::string& labels,
                      const davit_metric& m) {
  uint64_t below = 0;
  for (size_t i = 0; i <= bounds.size(); ++i) {
    below += m.buckets[i].load(std::memory_order_relaxed);
    const std::string le = i < bounds.size() ? number(bounds[i]) : "+Inf";
    out += name + "_bucket" + with_label(labels, "le=\"" + le + "\"") + " " +
           std::to_string(below) + "\n";
  }
  out += name + "_sum" + labels + " " + number(m.value.load(std::memory_order_relaxed)) + "\n";
  out += name + "_count" + labels + " " + std::to_string(below) + "\n";
}

}  // namespace

struct Metrics::State {
  mutable std::mutex mutex;
  std::map<std::string, Family, std::less<>> families;
  davit_metric nowhere;  // receives the values of metrics that cannot be shown
  std::mutex measuring;
  std::vector<std::function<void()>> measures;
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

davit_metric* Metrics::metric(int32_t type, std::string_view name, std::string_view help,
                              const davit_pair* labels, size_t count) {
  const bool known = type == DAVIT_COUNTER || type == DAVIT_GAUGE || type == DAVIT_HISTOGRAM;
  if (!known || !is_metric_name(name)) return &state_->nowhere;
  std::vector<std::pair<std::string_view, std::string_view>> sorted;
  for (size_t i = 0; i < count; ++i)
    sorted.emplace_back(view(labels[i].key), view(labels[i].value));
  std::sort(sorted.begin(), sorted.end());
  std::string rendered;
  for (const auto& [key, value] : sorted) {
    if (!is_metric_name(key)) return &state_->nowhere;
    rendered +=
        (rendered.empty() ? "{" : ",") + std::string(key) + "=\"" + escaped(value, true) + "\"";
  }
  if (!rendered.empty()) rendered += "}";

  std::lock_guard lock(state_->mutex);
  Family& family =
      state_->families.try_emplace(std::string(name), Family{type, std::string(help), {}})
          .first->second;
  if (family.type != type) return &state_->nowhere;
  auto& metric = family.series[rendered];
  if (metric == nullptr) {
    metric = std::make_unique<davit_metric>();
    metric->type = type;
  }
  return metric.get();
}

void Metrics::add(davit_metric* m, double by) {
  if (m->type == DAVIT_GAUGE || (m->type == DAVIT_COUNTER && by >= 0)) atomic_add(m->value, by);
}

void Metrics::set(davit_metric* m, double to) {
  if (m->type == DAVIT_GAUGE) m->value.store(to, std::memory_order_relaxed);
}

void Metrics::observe(davit_metric* m, double seconds) {
  if (m->type != DAVIT_HISTOGRAM) return;
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin();
  m->buckets[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  atomic_add(m->value, seconds);
}

void Metrics::before_each_look(std::function<void()> measure) {
  const std::lock_guard lock(state_->measuring);
  state_->measures.push_back(std::move(measure));
}

std::string Metrics::expose() const {
  {
    const std::lock_guard lock(state_->measuring);
    for (const auto& measure : state_->measures) measure();
  }
  static constexpr std::array<const char*, 4> types = {"untyped", "counter", "gauge", "histogram"};
  std::string out;
  std::lock_guard lock(state_->mutex);
  for (const auto& [name, family] : state_->families) {
    const bool any = std::any_of(family.series.begin(), family.series.end(),
                                 [](const auto& one) { return shown(*one.second); });
    if (!any) continue;
    out += "# HELP " + name + " " + escaped(family.help, false) + "\n";
    out += "# TYPE " + name + " " + types[static_cast<size_t>(family.type)] + "\n";
    for (const auto& [labels, metric] : family.series) {
      if (!shown(*metric)) continue;
      if (family.type == DAVIT_HISTOGRAM) {
        expose_histogram(out, name, labels, *metric);
      } else {
        out += name + labels + " " + number(metric->value.load(std::memory_order_relaxed)) + "\n";
      }
    }
  }
  return out;
}

}  // namespace davit::host
