#include "ring.hpp"

#include <algorithm>

namespace davit::streamer {

namespace {
// The streams of one topic stand at very few different positions, so older frames have no use.
constexpr size_t frames_kept = 8;
}  // namespace

Ring::Ring(size_t bytes_max, std::vector<Encoding> encodings)
    : bytes_max_(bytes_max), encodings_(std::move(encodings)) {}

void Ring::reset(Cursor at) {
  tracks_.clear();
  order_.clear();
  left_out_.clear();
  held_.clear();
  bytes_ = 0;
  floor_ = at.version;
  tip_ = at;
  ready_ = true;
}

void Ring::append(const Topic& topic, Change change) {
  bytes_ += change.bytes();
  order_.emplace_back(change.version, topic);
  tracks_[topic].changes.push_back(std::move(change));
  evict();
}

void Ring::leave_out(const Topic& topic, Version version) {
  std::erase_if(left_out_, [this](const auto& entry) { return entry.second <= floor_; });
  Version& last = left_out_[topic];
  last = std::max(last, version);
}

void Ring::hold(const std::string& kind, Version version) {
  held_[kind] = version;
}

void Ring::release(const std::string& kind) {
  held_.erase(kind);
}

void Ring::advance(Cursor tip) {
  tip_ = tip;
}

void Ring::evict() {
  while (bytes_ > bytes_max_ && order_.size() > 1) {
    const auto& [version, topic] = order_.front();
    auto track = tracks_.find(topic);
    auto& [changes, frames, given] = track->second;
    bytes_ -= changes.front().bytes();
    changes.pop_front();
    std::erase_if(frames, [last = version](const Frame& f) { return f.first <= last; });
    floor_ = std::max(floor_, version);  // a kind that was held comes late
    if (changes.empty()) tracks_.erase(track);
    order_.pop_front();
  }
}

Ring::Step Ring::next(const Topic& topic, Cursor cursor, size_t encoding) {
  if (!ready_) return {};
  if (cursor.incarnation != tip_.incarnation || cursor.version < floor_)
    return {Place::behind, {}, 0, false, cursor, {}};
  const auto gap = left_out_.find(topic);
  if (gap != left_out_.end() && cursor.version < gap->second)
    return {Place::behind, {}, 0, false, cursor, {}};
  if (cursor.version > tip_.version) return {Place::ahead, {}, 0, true, cursor, {}};
  const auto held = held_.find(topic.kind);
  const bool whole = held == held_.end();
  const Cursor end{tip_.incarnation, whole ? tip_.version : std::max(held->second, cursor.version)};
  auto track = tracks_.find(topic);
  if (track == tracks_.end()) return {Place::at_tip, {}, 0, whole, end, {}};

  auto& changes = track->second.changes;
  auto at = std::upper_bound(changes.begin(), changes.end(), cursor.version,
                             [](Version v, const Change& c) { return v < c.version; });
  at = std::find_if(at, changes.end(),
                    [&](const Change& c) { return encodings_[encoding].takes(c); });
  if (at == changes.end()) return {Place::at_tip, {}, 0, whole, end, {}};

  if (encodings_[encoding].make && (at->made.size() <= encoding || !at->made[encoding]))
    return {Place::behind, {}, 0, false, cursor, {}};
  const Frame* frame =
      encoded(topic, track->second, static_cast<size_t>(at - changes.begin()), encoding);
  const bool last = frame->last == changes.back().version;
  const Cursor after = last ? end : Cursor{tip_.incarnation, frame->last};
  Step step{Place::frame, frame->buffer, frame->records, last && whole, after, {}};
  if (frame->last > track->second.given) {
    track->second.given = frame->last;
    step.committed_at_unix_ms = frame->committed_at_unix_ms;
  }
  return step;
}

const Ring::Frame* Ring::encoded(const Topic& topic, Track& track, size_t from, size_t encoding) {
  const Encoding& e = encodings_[encoding];
  const Version first = track.changes[from].version;
  for (const auto& f : track.frames) {
    if (f.encoding == encoding && f.first == first) return &f;
  }
  std::vector<const Change*> batch;
  size_t bytes = 0;
  for (size_t i = from; i < track.changes.size() && batch.size() < e.records_max; ++i) {
    const Change& c = track.changes[i];
    if (!e.takes(c)) continue;
    if (!batch.empty() && bytes + c.content_bytes() > e.bytes_max) break;
    bytes += c.content_bytes();
    batch.push_back(&c);
  }
  if (track.frames.size() == frames_kept) track.frames.pop_front();
  return &track.frames.emplace_back(
      Frame{encoding, first, batch.back()->version, batch.size(),
            e.make ? batch.front()->made[encoding] : e.encode(topic, batch),
            batch.back()->committed_at_unix_ms});
}

}  // namespace davit::streamer
