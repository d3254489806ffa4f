// When the Lookout looks at the store, and when not.
#include "lookout.hpp"

#include <gtest/gtest.h>

#include <davit/testing/host.hpp>

#include "fakes/empty_storage.hpp"

namespace davit::desired {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Counts how often it is looked at.
class LookedAt : public testing::EmptyStorage {
 public:
  Version version = 1;
  int looks = 0;
  Result<Head> head(const Op&) { return ++looks, Head{{1, version}, 0, 0}; }
};

class Hinting : public LookedAt {
 public:
  davit_storage_watch* watch(storage::Hint hint) { return hints.watch(std::move(hint)); }
  void unwatch(davit_storage_watch* watch) { hints.unwatch(watch); }
  storage::Hints hints;
};

template <class Store>
class Rig {
 public:
  Rig() {
    watcher_->hear = [this](Lookout::News news) { moved += news == Lookout::News::moved; };
    lookout_.start();
    lookout_.join(watcher_);
    // The first look finds something new: that there is a store.
    pass(seconds(20));
    // From just after a look on, so that the next one that nobody asks for is far away.
    for (store.looks = 0; store.looks == 0;) pass(milliseconds(10));
    store.looks = moved = 0;
  }
  ~Rig() {
    lookout_.stop();
    host_.run();
  }
  void pass(std::chrono::nanoseconds time) { host_.advance(time); }
  void leave() { lookout_.leave(watcher_); }

  Store store;
  int moved = 0;

 private:
  testing::TestHost host_{"desired", {}, testing::TestHost::Time::manual};
  Outstanding outstanding_;
  Lookout lookout_{host_.host(), testing::client_of(host_, store), outstanding_};
  std::shared_ptr<Lookout::Watcher> watcher_ =
      std::make_shared<Lookout::Watcher>(Lookout::Watcher{host_.host().strand(), {}, false});
};

TEST(Lookout, LooksAtAStoreWithoutHintsEachSecond) {
  Rig<LookedAt> rig;
  rig.pass(minutes(1));
  EXPECT_GE(rig.store.looks, 48);
  EXPECT_LE(rig.store.looks, 80);
  ++rig.store.version;
  rig.pass(milliseconds(1'250));
  EXPECT_EQ(rig.moved, 1);
}

TEST(Lookout, LooksRarelyAtAStoreThatGivesHints) {
  Rig<Hinting> rig;
  rig.pass(minutes(10));
  EXPECT_GE(rig.store.looks, 48);
  EXPECT_LE(rig.store.looks, 80);
}

TEST(Lookout, LooksSoonAfterAHintOfRecordsAndOnceForMany) {
  Rig<Hinting> rig;
  ++rig.store.version;
  for (int i = 0; i < 5; ++i) rig.store.hints.tell(DAVIT_HINT_RECORDS);
  rig.pass(milliseconds(100));
  EXPECT_EQ(rig.moved, 1);
  EXPECT_EQ(rig.store.looks, 1);
}

TEST(Lookout, LooksWithinASecondOfOtherHints) {
  Rig<Hinting> rig;
  ++rig.store.version;
  rig.store.hints.tell(DAVIT_HINT_STATUSES);
  rig.pass(milliseconds(999));
  rig.store.hints.tell(DAVIT_HINT_AGENTS);  // does not put it off
  EXPECT_EQ(rig.store.looks, 0);
  rig.pass(milliseconds(1));
  EXPECT_EQ(rig.moved, 1);
}

TEST(Lookout, FindsWhatALostHintWouldHaveSaid) {
  Rig<Hinting> rig;
  ++rig.store.version;
  rig.pass(milliseconds(12'500));
  EXPECT_EQ(rig.moved, 1);
}

TEST(Lookout, DoesNotLookWhileNobodyWatches) {
  Rig<Hinting> rig;
  rig.leave();
  rig.store.hints.tell(DAVIT_HINT_RECORDS);
  rig.pass(minutes(10));
  EXPECT_EQ(rig.store.looks, 0);
}

}  // namespace
}  // namespace davit::desired
