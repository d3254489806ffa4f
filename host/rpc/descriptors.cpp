#include "descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <numeric>

namespace davit::host {

namespace {

// For storage, logs, plugins and threads. At most a quarter of all descriptors.
constexpr uint64_t kept_for_the_rest = 256;

}  // namespace

uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return UINT64_MAX;
  if (limit.rlim_cur == limit.rlim_max) return limit.rlim_cur;
  rlimit raised = limit;
  raised.rlim_cur = raised.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

std::vector<size_t> share_descriptors(const std::vector<size_t>& wanted, uint64_t descriptors) {
  uint64_t left = descriptors - std::min(kept_for_the_rest, descriptors / 4);
  std::vector<size_t> order(wanted.size()), out(wanted.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return wanted[a] < wanted[b]; });
  for (size_t i = 0; i < order.size(); ++i) {
    const uint64_t share = left / (order.size() - i);
    out[order[i]] = static_cast<size_t>(std::min<uint64_t>(wanted[order[i]], share));
    left -= out[order[i]];
  }
  return out;
}

}  // namespace davit::host
