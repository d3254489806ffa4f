#include "versions.hpp"

namespace davit::host {

void Versions::called(std::optional<Cursor> head) {
  before_ = after_;
  after_ = head;
  taken_.clear();
}

std::optional<Error> Versions::judge(Cursor at, const Group& group) {
  constexpr Version highest(INT64_MAX);
  const auto [incarnation, first] = at;
  const size_t count = group.mutations.size();
  if (!first || first > highest - count) return wrong("version " + to_string(first));
  if (!incarnation) return wrong("version " + to_string(first) + " of no incarnation");
  const Version last = first + count - 1;
  const auto next = taken_.lower_bound(at);  // finds by last version
  if (next != taken_.end() && next->first.incarnation == incarnation && next->second <= last)
    return wrong("twice the version " + to_string(first));
  taken_[{incarnation, last}] = first;
  if (after_ && after_->incarnation == incarnation && last > after_->version) {
    return wrong("version " + to_string(last) + ", but its head is " + to_string(after_->version) +
                 " afterwards");
  }
  // A request id that is repeated is answered with the versions of the first time.
  const bool may_be_old = !group.request_id.empty();
  if (!may_be_old && before_ && before_->incarnation == incarnation && first <= before_->version) {
    return wrong("version " + to_string(first) + ", but its head was " +
                 to_string(before_->version) + " before");
  }
  return std::nullopt;
}

Error Versions::wrong(const std::string& what) const {
  return {Code::internal, "storage \"" + text(storage_) +
                              "\": a fault of the plugin: it answered a commit with " + what};
}

}  // namespace davit::host
