#include "views.hpp"

#include <algorithm>
#include <utility>

namespace davit::applier {

Views::Views(const std::vector<kind::Resource>& resources, Sight::Time patience) {
  for (const auto& r : resources) views_.push_back({Sight(patience), watched(r), false, {}});
}

void Views::begin(Sight::Moment now) {
  for (View& view : views_) view.sight.begin(now);
}

void Views::expire(Sight::Time now) {
  for (View& view : views_) view.sight.expire(now);
}

Views::News Views::look() {
  News out;
  bool lost = false;
  for (size_t i = 0; i < views_.size(); ++i) {
    View& view = views_[i];
    if (!view.watched) continue;
    if (std::string reason = view.sight.reason(); reason != view.reason) {
      out.blindness.push_back({i, view.reason.empty()});
      view.reason = std::move(reason);
    }
    const bool trusted = view.sight.trusted();
    if (trusted == std::exchange(view.trusted, trusted)) continue;
    out.trust.push_back(i);
    (trusted ? out.gained : lost) = true;
  }
  if (lost) was_complete_ = complete();
  if (out.gained && complete()) out.all = !std::exchange(was_complete_, true);
  return out;
}

std::optional<Sight::Time> Views::due() const {
  std::optional<Sight::Time> next;
  for (const View& view : views_) {
    const auto due = view.watched ? view.sight.due() : std::nullopt;
    if (due) next = std::min(next.value_or(*due), *due);
  }
  return next;
}

bool Views::complete() const {
  return std::all_of(views_.begin(), views_.end(),
                     [](const View& view) { return !view.watched || view.sight.trusted(); });
}

bool Views::sees(const std::vector<uint32_t>& resources) const {
  return std::all_of(resources.begin(), resources.end(),
                     [this](uint32_t i) { return views_[i].sight.trusted(); });
}

std::vector<Coverage> Views::coverage() const {
  std::vector<Coverage> out;
  for (const View& view : views_) {
    out.push_back(!view.watched          ? Coverage::none
                  : view.sight.trusted() ? Coverage::complete
                                         : Coverage::begun);
  }
  return out;
}

std::optional<size_t> Views::blind() const {
  for (size_t i = 0; i < views_.size(); ++i) {
    if (views_[i].watched && views_[i].sight.blind()) return i;
  }
  return std::nullopt;
}

}  // namespace davit::applier
