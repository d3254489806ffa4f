#include "batch.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace davit::secrets_file {
namespace {

using namespace std::chrono_literals;

// How long a call may keep a thread of the pool while others wait, and how many items.
constexpr auto slice = 10ms;
constexpr size_t slice_items = 256;

}  // namespace

Shared::Shared(Host h, Resolver r)
    : host(h),
      resolver(std::move(r)),
      resolved(h.counter("davit_secrets_file_resolved_total", "Values that were resolved")),
      refused(h.counter("davit_secrets_file_refused_total", "Items that got an error")) {}

Batch::Batch(Shared& shared, const Op& op, std::vector<secrets::Item> items, secrets::Done done)
    : ticket_(shared.open.begin()),
      shared_(shared),
      op_(op),
      items_(std::move(items)),
      done_(std::move(done)) {}

void Batch::queue() {
  shared_.host.blocking("", [self = shared_from_this()] { self->work(); });
}

void Batch::work() {
  const auto end = shared_.host.now() + slice;
  if (order_.empty()) arrange();
  for (size_t n = 0; next_ < order_.size(); ++n) {
    if (n == slice_items || (n > 0 && shared_.host.now() >= end)) {
      state_.keyring.reset();  // nobody knows for how long it waits
      return queue();
    }
    const size_t item = order_[next_++];
    results_[item] = one(items_[item]);
  }
  answer();
}

void Batch::arrange() {
  order_.resize(items_.size());
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [this](size_t a, size_t b) {
    return std::tie(items_[a].keyring, items_[a].ref) < std::tie(items_[b].keyring, items_[b].ref);
  });
  results_.reserve(items_.size());
  for (size_t n = 0; n < items_.size(); ++n) results_.emplace_back(Error{});
}

Result<secrets::Value> Batch::one(const secrets::Item& item) {
  Result<secrets::Value> out = Error{};
  if (auto over = given_up(op_, shared_.host.now())) {
    out = *over;
  } else if (shared_.stopping) {
    out = shutting_down();
  } else {
    try {
      out = shared_.resolver.resolve(item, state_);
    } catch (const std::bad_alloc&) {
      out = Error{Code::resource_exhausted, "there is no memory for the value"};
    }
  }
  if (out.ok()) return out;
  Error error = out.error();
  error.where = item.type == DAVIT_SECRET_READ ? item.ref : item.keyring;
  return error;
}

void Batch::answer() {
  const auto good = static_cast<size_t>(
      std::count_if(results_.begin(), results_.end(), [](const auto& r) { return r.ok(); }));
  shared_.resolved.add(static_cast<double>(good));
  shared_.refused.add(static_cast<double>(results_.size() - good));
  state_ = {};  // the keys have done their work
  std::exchange(done_, nullptr)(std::move(results_));
  results_.clear();
}

}  // namespace davit::secrets_file
