// Queue: which key is worked on next. One entry a key; a key is never given out twice at once, and
// what is added while it is out comes once more. Pure: time comes in with every call. Stands
// between the desired table and the workers.
//
// Live changes go before repairs, repairs before the resync, and what failed stays as urgent as it
// was; but while several bands wait each gets its share, so that none starves: in a bootstrap of
// thousands what runs is reported as it comes up, not after the last change.
//
// After each trip a key rests: a little after success (a burst of events is one more trip), longer
// after each failure (its backoff). A live change ends the rest; nothing else does.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

namespace davit::applier {

enum class Band : uint8_t { change, repair, resync };

class Queue {
 public:
  using Key = uint64_t;
  using Time = std::chrono::nanoseconds;

  // To be worked on at `at`, or once it has rested. Of several the earliest time and the most
  // urgent band count.
  void add(Key key, Band band, Time at);
  // The next key that is due; it is out until `done`.
  std::optional<Key> take(Time now);
  // The key's trip is over; it rests until then.
  void done(Key key, Time rest_until);
  // The key's trip failed: it rests until then and comes again, as urgent as it was.
  void retry(Key key, Time at);
  // Gives a key back untouched: it waits for an `add`. The band that it was taken from.
  Band put_aside(Key key);
  // The key is no more. It must not be out.
  void forget(Key key);
  // What failed may be tried at once: every rest ends.
  void hasten(Time now);

  // When take may give something again; nullopt: only after an add.
  std::optional<Time> next_due() const;
  size_t waiting() const { return ready_.size() + delayed_.size(); }
  size_t out() const { return out_; }

 private:
  struct Entry {
    bool waits = false;  // in ready_ or delayed_, or, while out, to come again
    bool out = false;
    bool delayed = false;
    Band band = Band::resync;
    Band taken = Band::resync;  // the band it is out in
    Time at{0};
    Time rest_until{0};
    uint64_t order = 0;
  };
  void wait(Key key, Entry& e, Band band, Time at);
  void enqueue(Key key, Entry& e);
  void remove(Key key, Entry& e);
  using Ready = std::set<std::tuple<Band, uint64_t, Key>>;
  Ready::iterator next_ready();

  std::unordered_map<Key, Entry> entries_;
  Ready ready_;                           // in order of arrival within a band
  std::array<uint64_t, 3> had_{0, 0, 0};  // what each band has had, in parts of its share
  std::set<std::pair<Time, Key>> delayed_;
  uint64_t order_ = 0;
  size_t out_ = 0;
};

}  // namespace davit::applier
