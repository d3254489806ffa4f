// Looks at the store for everybody who watches it through this plugin, so that many watchers cost
// it what one does: once an interval (jittered), and soon after this process has committed.
// Whoever watches is woken when something may have changed, and then reads what concerns it.
// Nobody watches: nothing is read.
//
// Looks run on a strand of its own and on the storage's pool; the public functions may be called
// from any thread.
#pragma once

#include <mutex>
#include <set>

#include <davit/outstanding.hpp>
#include <davit/storage.hpp>

namespace davit::desired {

class Lookout {
 public:
  enum class News { moved, stopping };
  // Where a watcher can be reached; outlives it.
  struct Watcher {
    Strand strand;
    std::function<void(News)> hear;  // on the strand only; empty: it has gone
    bool agents = false;             // what agents say concerns it, too
  };

  Lookout(Host host, storage::Client storage, Outstanding& outstanding);

  // False: the plugin stops, and the watcher must end by itself.
  bool join(const std::shared_ptr<Watcher>& watcher);
  void leave(const std::shared_ptr<Watcher>& watcher);
  // Something was committed: look soon. Many hints are one look.
  void hint();
  // Tells every watcher to end.
  void stop();

 private:
  // What is compared: the heads, and when each agent was heard of last.
  struct Sight {
    Head head;
    std::vector<int64_t> agents;
  };
  static Result<Sight> look_at(const storage::Client& storage, bool agents);
  void look();
  void looked(Result<Sight> sight);
  void schedule();
  bool idle();  // nobody watches, or the plugin stops
  void tell(News news);

  Host host_;
  storage::Client storage_;
  Outstanding& outstanding_;
  Strand strand_;

  // On the strand.
  Timer timer_, soon_;
  Sight last_;
  bool looking_ = false;
  bool again_ = false;

  std::mutex mutex_;
  std::set<std::shared_ptr<Watcher>> watchers_;
  bool stopping_ = false;
};

}  // namespace davit::desired
