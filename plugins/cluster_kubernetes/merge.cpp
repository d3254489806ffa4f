#include "merge.hpp"

#include <algorithm>

#include "kubernetes/json_scan.hpp"

namespace davit::cluster_kubernetes {
namespace {

// Versions are numbers without leading zeros.
bool is_lower(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

Merge::Merge(std::vector<std::string> parts, bool resumed) {
  for (auto& ns : parts) parts_.push_back({std::move(ns), resumed, resumed, {}});
}

Merge::Out Merge::take(size_t n, WatchFlow::Item item) {
  if (parts_.size() == 1) return {std::move(item)};
  Part& part = parts_[n];
  switch (item.type) {
    case DAVIT_WATCH_RESTART:
      return restarted(n, std::move(item));
    case DAVIT_WATCH_SYNCED: {
      part.complete = true;
      part.version = kubernetes::json_plain_string(
                         kubernetes::json_at(item.object, {"metadata", "resourceVersion"}))
                         .value_or("");
      const bool all = std::all_of(parts_.begin(), parts_.end(),
                                   [](const Part& p) { return p.begun && p.complete; });
      if (!all) return {};
      item.object = synced_object();
      return {std::move(item)};
    }
    case DAVIT_WATCH_TROUBLE:
    case DAVIT_WATCH_REFUSED:
      part.complete = false;
      item.object = "namespace \"" + part.ns + "\": " + item.object;
      return {std::move(item)};
    default:
      return {std::move(item)};
  }
}

Merge::Out Merge::restarted(size_t n, WatchFlow::Item item) {
  Part& part = parts_[n];
  part.complete = false;
  if (part.begun) {
    for (Part& other : parts_) other.begun = other.complete = false;
    part.begun = true;
    return {std::move(item), true};
  }
  const bool first =
      std::none_of(parts_.begin(), parts_.end(), [](const Part& p) { return p.begun; });
  part.begun = true;
  if (!first) return {};
  return {std::move(item)};
}

// What the watch has shown is complete up to the lowest of the parts' versions.
std::string Merge::synced_object() const {
  std::string lowest;
  for (const Part& part : parts_) {
    if (!part.version.empty() && (lowest.empty() || is_lower(part.version, lowest)))
      lowest = part.version;
  }
  if (lowest.empty()) return "{}";
  return "{\"metadata\":{\"resourceVersion\":\"" + lowest + "\"}}";
}

}  // namespace davit::cluster_kubernetes
