// The part of Feed that asks the kinds. What the tailer has read of a kind waits in the kind's lane
// and is asked about on the kind's pool, one job for each kind.
#include "feed.hpp"

#include <davit/storage_domain.hpp>

namespace davit::streamer {

namespace {

// What a lane holds at most, some full reads. What does not fit is left out: the streams read it
// from the store.
constexpr size_t lane_records_max = 4'000;
constexpr size_t lane_bytes_max = 4 << 20;
// What has been asked about for so long is appended before the next is asked about.
constexpr std::chrono::milliseconds asked_at_once{50};

size_t bytes_of(const Record& r) {
  return sizeof r + storage::stored_bytes(r) + r.annotations.size() * sizeof r.annotations[0];
}

}  // namespace

Change Feed::named(const Record& r) {
  return {r.version, r.key.id, r.ns, r.name, Verb::hold, {}, r.committed_at_unix_ms};
}

void Feed::enter(Record r, Ports& concerned) {
  const Topic topic{r.key.kind, r.key.region};
  Lane& lane = lanes_[topic.kind];
  const size_t bytes = bytes_of(r);
  const bool full = lane.waiting.size() >= lane_records_max ||
                    (!lane.waiting.empty() && lane.bytes + bytes > lane_bytes_max);
  if (full) {
    ring_.leave_out(topic, r.version);
    return add_ports(topic, concerned);
  }
  if (lane.topics.empty()) ring_.hold(topic.kind, cursor_.version);
  lane.topics[topic] = r.version;
  lane.bytes += bytes;
  lane.waiting.push_back(std::move(r));
}

// What has been read belongs to a history that may have ended. The store has it all the same.
void Feed::give_up_lanes() {
  ++lanes_age_;
  for (auto& [kind, lane] : lanes_) {
    for (const auto& [topic, version] : lane.topics) ring_.leave_out(topic, version);
    lane.topics.clear();
    lane.waiting.clear();
    lane.bytes = 0;
    ring_.release(kind);
  }
}

void Feed::start_lanes() {
  std::vector<std::string> begun;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    for (auto& [kind, lane] : lanes_) {
      if (!lane.waiting.empty() && !std::exchange(lane.working, true)) begun.push_back(kind);
    }
  }
  for (const std::string& kind : begun) run_lane(kind, outstanding_.begin());
}

void Feed::run_lane(const std::string& kind, Outstanding::Ticket ticket) {
  host_.blocking(classifier_.kind(kind)->client.instance(),
                 [this, kind, ticket = std::move(ticket)] { ask(kind, ticket); });
}

// On the kind's pool; one at a time of a kind.
void Feed::ask(const std::string& kind, const Outstanding::Ticket& ticket) {
  std::deque<Record> records;
  std::vector<size_t> peers;
  uint64_t age = 0;
  {
    const std::lock_guard lock(mutex_);
    records.swap(lanes_[kind].waiting);
    peers = peers_;
    age = lanes_age_;
  }
  const Classifier::Kind& of = *classifier_.kind(kind);
  const auto until = host_.now() + asked_at_once;
  std::vector<Entry> entries;
  size_t bytes = 0;
  while (!records.empty() && (entries.empty() || host_.now() < until)) {
    bytes += bytes_of(records.front());
    entries.push_back(entry_of(of, std::move(records.front()), peers));
    records.pop_front();
  }
  Ports concerned;
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    Lane& lane = lanes_[kind];
    if (age == lanes_age_ && !entries.empty()) {
      lane.bytes -= bytes;
      lane.waiting.insert(lane.waiting.begin(), std::make_move_iterator(records.begin()),
                          std::make_move_iterator(records.end()));
      ring_.hold(kind, entries.back().change.version);
      append(std::move(entries), concerned);
    }
    if (lane.waiting.empty()) {
      lane.topics.clear();
      ring_.release(kind);
    }
    more = lane.working = !lane.waiting.empty() && !stopping_;
  }
  tell(concerned, Word::wake);
  if (more) run_lane(kind, ticket);
}

// A kind that cannot classify now delays its own topic only.
Feed::Entry Feed::entry_of(const Classifier::Kind& kind, Record r,
                           const std::vector<size_t>& peers) const {
  const Topic topic{r.key.kind, r.key.region};
  Change left_out = named(r);
  auto change = classifier_.change(kind, std::move(r));
  if (!change.ok()) return {topic, std::move(left_out), true};
  make_messages(topic, *change, peers);
  change->json.clear();
  return {topic, std::move(*change)};
}

// Makes here what only the kind can make, for the protocols that somebody speaks: the ring must not
// call a kind. What is not made now is read from the store by whoever needs it.
void Feed::make_messages(const Topic& topic, Change& change,
                         const std::vector<size_t>& peers) const {
  for (size_t i = 0; i < encodings_.size(); ++i) {
    if (!encodings_[i].make || peers[i] == 0 || !encodings_[i].takes(change)) continue;
    auto made = encodings_[i].make(topic, change);
    const Key key{topic.kind, topic.region, change.id};
    if (!made.ok()) {
      classifier_.delayed(key, Delay::ctrl_v1, change.version, made.error());
      continue;
    }
    classifier_.not_delayed(key, Delay::ctrl_v1, change.version);
    change.made.resize(encodings_.size());
    change.made[i] = std::move(*made);
  }
}

void Feed::append(std::vector<Entry> entries, Ports& concerned) {
  for (Entry& e : entries) {
    add_ports(e.topic, concerned);
    if (e.left_out) {
      ring_.leave_out(e.topic, e.change.version);
    } else {
      ring_.append(e.topic, std::move(e.change));
    }
  }
}

void Feed::add_ports(const Topic& topic, Ports& concerned) const {
  if (const auto it = ports_.find(topic); it != ports_.end())
    concerned.insert(it->second.begin(), it->second.end());
}

}  // namespace davit::streamer
