#include "slices.hpp"

#include <algorithm>

namespace davit::recorder {
namespace {

struct Slices : std::enable_shared_from_this<Slices> {
  Slices(Shared& s, const Operation& caller, std::vector<Status> all,
         std::function<void(Result<>)> d)
      : shared(s), storage(s.storage.under(caller)), statuses(std::move(all)), done(std::move(d)) {}

  Shared& shared;
  const storage::Client storage;
  std::vector<Status> statuses;
  std::function<void(Result<>)> done;
  size_t stored = 0;

  void next() {
    const size_t count = std::min(shared.limits.statuses_at_once, statuses.size() - stored);
    const auto from = statuses.begin() + static_cast<std::ptrdiff_t>(stored);
    const std::vector<Status> slice(std::make_move_iterator(from),
                                    std::make_move_iterator(from + static_cast<ptrdiff_t>(count)));
    stored += count;
    storage.report(slice, [self = shared_from_this(), count](Result<> r) {
      if (!r.ok()) return self->done(std::move(r));
      self->shared.statuses.add(static_cast<double>(count));
      if (self->stored == self->statuses.size()) return self->done({});
      self->next();
    });
  }
};

}  // namespace

void store_in_slices(Shared& shared, const Operation& caller, std::vector<Status> statuses,
                     std::function<void(Result<>)> done) {
  std::make_shared<Slices>(shared, caller, std::move(statuses), std::move(done))->next();
}

}  // namespace davit::recorder
