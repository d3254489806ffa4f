// Ends statements whose callers no longer wait. libpq waits for the server without an end, so a
// thread of its own does it: it asks the server to stop the statement (PQcancel), and cuts the
// connection when that has not helped within a short time, or when the deadline has passed and the
// server, which knows it, has not answered. Any thread.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "davit/host.hpp"
#include "davit/operation.hpp"
#include "session.hpp"

namespace davit::storage_postgres {

class Watchman {
 public:
  explicit Watchman(const Host& host);
  ~Watchman();  // no Watch is left
  Watchman(const Watchman&) = delete;
  Watchman& operator=(const Watchman&) = delete;

  // While it lives, the statements of a session end with the operation. Afterwards nothing that was
  // meant for them reaches a later statement: a session that was asked to stop is not used again.
  class Watch {
   public:
    Watch(Watchman& watchman, Session& session, const Op& op);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    // From here on the caller's cancelling stops nothing: the commit is on its way.
    void no_way_back();

   private:
    friend class Watchman;
    enum class Stage { idle, wanted, stopping, stopped };
    Watchman& watchman_;
    Session& session_;
    // Under the watchman's mutex.
    Stage stage_ = Stage::idle;
    bool committing_ = false;
    std::chrono::nanoseconds cut_at_;
    std::list<Watch*>::iterator place_;
    std::optional<OnCancel> on_cancel_;  // last: it may call at once
  };

 private:
  using Lock = std::unique_lock<std::mutex>;
  void run();
  void want(Watch& watch);
  void stop(Lock& lock, Watch& watch);
  std::chrono::nanoseconds cut_what_is_late();

  const Host host_;
  std::mutex mutex_;
  std::condition_variable changed_;  // for the thread
  std::condition_variable stopped_;  // for a Watch that ends
  std::list<Watch*> watches_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace davit::storage_postgres
