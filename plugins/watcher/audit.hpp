// Audit: finds the records that a peer without bookmarks (ctrl.v1) has lost without saying so. Such
// a peer sends what has changed after a version. So a row that is gone leaves no trace, and a row
// that was committed late is passed over. The audit has everything listed again at an interval. A
// record that a listing does not name is asked for by point query. It is gone when the peer has
// said so twice. The Stream carries out what the audit decides. Pure; on the stream's strand.
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

  // The stream begins from nothing: a new listing.
  void listing(Time now);
  bool wants_listing(Time now) const;
  // The peer sent an apply or a delete of the record. A delete may have no id, and no namespace
  // when all objects of the kind live in one.
  void lives(const Named&, Version version);
  void goes(const Named&);

  struct Known {
    Named named;
    Version version{};  // of the last message about the record
  };
  // The records to ask for now, at most `limit`; the others follow at the next call. None when the
  // listing left out more than half of the records, or all: then the fault is the peer's, for which
  // an unknown region is an empty one. distrusts() tells.
  std::vector<Known> to_ask(Time now, size_t limit);
  bool distrusts() const { return distrusts_; }
  // The peer answered that it has no such record. True: this is the second such answer, `confirm`
  // after the first, and the peer has not sent the record in between. The audit then forgets it.
  bool absent(const std::string& id, Time now);
  void present(const std::string& id);
  // The query failed. It is repeated after a growing backoff; an earlier answer stays valid.
  void unanswered(const std::string& id, Time now, uint64_t random);

  size_t size() const { return records_.size(); }

 private:
  struct Record {
    Known known;
    uint64_t listing = 0;        // the last listing that named it
    std::optional<Time> ask_at;  // do not ask before this time; nothing: not asked for yet
    std::optional<Time> absent;  // time of the first answer that it is gone
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
