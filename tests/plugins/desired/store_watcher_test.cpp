// When the StoreWatcher looks at the store, and when not.
#include "store_watcher.hpp"

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
    subscriber_->notify = [this](StoreWatcher::Event event) {
      moved += event == StoreWatcher::Event::changed;
    };
    store_watcher_.start();
    store_watcher_.subscribe(subscriber_);
    // The first look finds something new: that there is a store.
    pass(seconds(20));
    // From just after a look on, so that the next one that nobody asks for is far away.
    for (store.looks = 0; store.looks == 0;) pass(milliseconds(10));
    store.looks = moved = 0;
  }
  ~Rig() {
    store_watcher_.stop();
    host_.run();
  }
  void pass(std::chrono::nanoseconds time) { host_.advance(time); }
  void unsubscribe() { store_watcher_.unsubscribe(subscriber_); }

  Store store;
  int moved = 0;

 private:
  testing::TestHost host_{"desired", {}, testing::TestHost::Time::manual};
  Outstanding outstanding_;
  StoreWatcher store_watcher_{host_.host(), testing::client_of(host_, store), outstanding_};
  std::shared_ptr<StoreWatcher::Subscriber> subscriber_ =
      std::make_shared<StoreWatcher::Subscriber>(
          StoreWatcher::Subscriber{host_.host().strand(), {}, false});
};

TEST(StoreWatcher, LooksAtAStoreWithoutHintsEachSecond) {
  Rig<LookedAt> rig;
  rig.pass(minutes(1));
  EXPECT_GE(rig.store.looks, 48);
  EXPECT_LE(rig.store.looks, 80);
  ++rig.store.version;
  rig.pass(milliseconds(1'250));
  EXPECT_EQ(rig.moved, 1);
}

TEST(StoreWatcher, LooksRarelyAtAStoreThatGivesHints) {
  Rig<Hinting> rig;
  rig.pass(minutes(10));
  EXPECT_GE(rig.store.looks, 48);
  EXPECT_LE(rig.store.looks, 80);
}

TEST(StoreWatcher, LooksSoonAfterAHintOfRecordsAndOnceForMany) {
  Rig<Hinting> rig;
  ++rig.store.version;
  for (int i = 0; i < 5; ++i) rig.store.hints.tell(DAVIT_HINT_RECORDS);
  rig.pass(milliseconds(100));
  EXPECT_EQ(rig.moved, 1);
  EXPECT_EQ(rig.store.looks, 1);
}

TEST(StoreWatcher, LooksWithinASecondOfOtherHints) {
  Rig<Hinting> rig;
  ++rig.store.version;
  rig.store.hints.tell(DAVIT_HINT_STATUSES);
  rig.pass(milliseconds(999));
  rig.store.hints.tell(DAVIT_HINT_AGENTS);  // does not put it off
  EXPECT_EQ(rig.store.looks, 0);
  rig.pass(milliseconds(1));
  EXPECT_EQ(rig.moved, 1);
}

TEST(StoreWatcher, FindsWhatALostHintWouldHaveSaid) {
  Rig<Hinting> rig;
  ++rig.store.version;
  rig.pass(milliseconds(12'500));
  EXPECT_EQ(rig.moved, 1);
}

TEST(StoreWatcher, DoesNotLookWhileNobodyWatches) {
  Rig<Hinting> rig;
  rig.unsubscribe();
  rig.store.hints.tell(DAVIT_HINT_RECORDS);
  rig.pass(minutes(10));
  EXPECT_EQ(rig.store.looks, 0);
}

}  // namespace
}  // namespace davit::desired
