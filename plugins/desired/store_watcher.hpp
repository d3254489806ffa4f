// The store watcher of this plugin. It looks at the store for all watches together, so many watches
// cost the store as little as one: soon after a hint of the store, and at long intervals, because
// hints may get lost. A store without hints is looked at once a second. When something may have
// changed it wakes the watches, and each reads what it needs. While nobody watches it reads
// nothing.
//
// It works on a strand of its own and on the storage's pool. The public functions may be called
// from any thread.
#pragma once

#include <atomic>
#include <mutex>
#include <set>

#include <davit/outstanding.hpp>
#include <davit/storage.hpp>

namespace davit::desired {

class StoreWatcher {
 public:
  enum class Event { changed, stopping };
  // The address of a watch. It outlives the watch.
  struct Subscriber {
    Strand strand;
    std::function<void(Event)> notify;  // on the strand only; empty: the watch is gone
    bool agents = false;                // true: changes of the agents' progress wake it, too
  };

  StoreWatcher(Host host, storage::Client storage, Outstanding& outstanding);

  // False: the plugin stops, and the watch must end itself.
  bool subscribe(const std::shared_ptr<Subscriber>& subscriber);
  void unsubscribe(const std::shared_ptr<Subscriber>& subscriber);
  // From now on the store's hints are heard.
  void start();
  // Tells every watch to end.
  void stop();

 private:
  // The result of a look, which is compared with the last one: the heads, and when each agent was
  // heard of last.
  struct Observation {
    Head head;
    std::vector<int64_t> agents;
  };
  static Result<Observation> look_at(const storage::Client& storage, bool agents);
  void look();
  void looked(Result<Observation> observed);
  void hint(uint32_t what);  // many hints cause one look
  void look_within(std::chrono::nanoseconds delay);
  void schedule();
  bool idle();  // true: nobody watches, or the plugin stops
  void tell(Event event);

  Host host_;
  storage::Client storage_;
  Outstanding& outstanding_;
  Strand strand_;

  // On the strand.
  Timer timer_;
  std::chrono::nanoseconds due_{};  // when the timer fires, while it waits
  Observation last_;
  bool looking_ = false;
  bool again_ = false;

  storage::Watch watch_;
  std::atomic<bool> hinted_{false};

  std::mutex mutex_;
  std::set<std::shared_ptr<Subscriber>> subscribers_;
  bool stopping_ = false;
};

}  // namespace davit::desired
