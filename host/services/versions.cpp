#include "versions.hpp"

namespace davit::host {

void Versions::called(std::optional<Cursor> head) {
  before_ = after_;
  after_ = head;
  taken_.clear();
}

std::optional<Error> Versions::judge(uint64_t first, const Group& group) {
  constexpr uint64_t highest = INT64_MAX;
  const size_t count = group.mutations.size();
  if (first == 0 || first > highest - count) return wrong("version " + std::to_string(first));
  const uint64_t last = first + count - 1;
  const auto next = taken_.lower_bound(first);  // finds by last version
  if (next != taken_.end() && next->second <= last)
    return wrong("twice the version " + std::to_string(first));
  taken_[last] = first;
  if (!after_) return std::nullopt;
  if (last > after_->version) {
    return wrong("version " + std::to_string(last) + ", but its head is " +
                 std::to_string(after_->version) + " afterwards");
  }
  // A request id that is repeated is answered with the versions of the first time.
  const bool may_be_old = !group.request_id.empty();
  if (!may_be_old && before_ && before_->incarnation == after_->incarnation &&
      first <= before_->version) {
    return wrong("version " + std::to_string(first) + ", but its head was " +
                 std::to_string(before_->version) + " before");
  }
  return std::nullopt;
}

Error Versions::wrong(const std::string& what) const {
  return {Code::internal,
          "storage \"" + text(storage_) + "\": a fault of the plugin: it answered a commit with " +
              what,
          {},
          {}};
}

}  // namespace davit::host
