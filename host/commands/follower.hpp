// Remembers what `davit get --watch` has printed, and selects the news from a stream's messages: a
// stream that begins again after its server was away lists every record again. Pure.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <davit/v1/operator.pb.h>

namespace davit::host {

class Follower {
 public:
  using Records = std::vector<v1::StoredRecord>;

  // `deleted`: also print records that were deleted before the command began. The stream must list
  // deleted records in any case, because records that are deleted while no stream is open are news.
  explicit Follower(bool deleted) : deleted_(deleted) {}

  // Returns the records of this message to print, and nothing until the stream has listed
  // everything. The first listing is ordered by kind, region and id, everything later by version. A
  // record that the store no longer lists, not even as deleted (it was purged, or lost), has the
  // state "absent" and no version.
  Records take(const v1::OperatorWatchResponse& message);
  // Call when a stream begins (again).
  void begin();
  // True once the first listing has been printed.
  bool current() const { return current_; }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // kind, region, id
  // The time of the commit counts too: a restored store may give the same version again.
  struct Mark {
    uint64_t version;
    int64_t committed_at_unix_ms;
    bool deleted;
    bool operator==(const Mark&) const = default;
  };

  Records first();
  Records again();
  // Remembers the record. False: it has not changed.
  bool is_news(const v1::StoredRecord& record);

  bool deleted_;
  bool current_ = false;                   // true once any stream was complete
  bool listing_ = true;                    // this stream has not listed everything yet
  std::map<Key, v1::StoredRecord> there_;  // what this stream has listed so far
  std::map<Key, Mark> known_;
};

}  // namespace davit::host
