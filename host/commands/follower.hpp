// What `davit get --watch` has printed, and so what of a stream's messages is news: a stream that
// begins again after its server was away names every record again. Pure.
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

  // `deleted`: records that were deleted before it began are wanted, too. The streams must name
  // them in any case: those that die while no stream is there are news.
  explicit Follower(bool deleted) : deleted_(deleted) {}

  // What is to be printed of this message; nothing before all that is there has been named. At
  // first by kind, region and id; later in the order of their versions. A record that the store
  // does not name any more, not even as deleted (it was purged, or lost), comes with the state
  // "absent" and no version.
  Records take(const v1::OperatorWatchResponse& message);
  // A stream begins (again).
  void begin();
  // All that was there at the beginning has been printed.
  bool current() const { return current_; }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // kind, region, id
  // Versions may be given again by a store that was restored.
  struct Mark {
    uint64_t version;
    int64_t committed_at_unix_ms;
    bool deleted;
    bool operator==(const Mark&) const = default;
  };

  Records first();
  Records again();
  // Remembers it; false: it was known as it is.
  bool is_news(const v1::StoredRecord& record);

  bool deleted_;
  bool current_ = false;                   // of any stream
  bool listing_ = true;                    // this stream still names what was there
  std::map<Key, v1::StoredRecord> there_;  // named so far by this stream
  std::map<Key, Mark> known_;
};

}  // namespace davit::host
