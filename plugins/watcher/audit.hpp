// Audit: what a peer without bookmarks never says. It sends what has changed after a version, so
// that a row that is gone leaves no trace, and one that was committed late is passed over. Now and
// then everything is listed again; what a listing does not name is asked for, one by one, and is
// gone when the peer says so twice. Pure; on its stream's strand.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <davit/backoff.hpp>
#include <davit/kind.hpp>

namespace davit::watcher {

class Audit {
 public:
  using Time = std::chrono::nanoseconds;  // of the host's clock
  struct Timing {
    std::chrono::milliseconds relist{300'000};  // 0: never
    std::chrono::milliseconds confirm{60'000};  // from a listing's begin to the first question, and
                                                // between two answers that a record is gone
  };
  explicit Audit(Timing t) : timing_(t) {}

  // The stream begins anew, from nothing.
  void listing(Time now);
  bool wants_listing(Time now) const;
  // The stream said that a record lives, or that it is to go (its id may be empty, and the
  // namespace of a kind whose objects all live in one).
  void lives(const Named&, uint64_t version);
  void goes(const Named&);

  struct Known {
    Named named;
    uint64_t version = 0;  // last heard of
  };
  // Whom to ask for now, `limit` of them at most; the others come next time. Nobody when the
  // listing named none at all, or left out more than half: then it is the peer that has a fault (a
  // region it does not know is an empty one to it), see `distrusts`.
  std::vector<Known> to_ask(Time now, size_t limit);
  bool distrusts() const { return distrusts_; }
  // The peer has no such record. True: that is the second time, nothing was heard of it meanwhile,
  // and it is forgotten here.
  bool absent(const std::string& id, Time now);
  void present(const std::string& id);
  // It could not say: it is asked again, later each time, and what it had said counts.
  void unanswered(const std::string& id, Time now, uint64_t random);

  size_t size() const { return records_.size(); }

 private:
  struct Record {
    Known known;
    uint64_t listing = 0;        // the last that named it
    std::optional<Time> ask_at;  // not before; nothing: not asked for yet
    std::optional<Time> absent;  // first answered that it is gone
    Backoff unanswered;
  };
  Record* find(const std::string& id);
  const Timing timing_;
  std::unordered_map<std::string, Record> records_;  // by id
  uint64_t listing_ = 0;
  Time began_{0};
  bool distrusts_ = false;
};

}  // namespace davit::watcher
