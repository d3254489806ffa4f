// The connections of an instance. A call borrows one for its time. There are as many as there were
// simultaneous calls, so the instance's pool_threads bounds them. Any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "session.hpp"

namespace davit::storage_postgres {

class Pool {
 public:
  Pool(const Host& host, const PostgresSettings& settings) : host_(host), settings_(settings) {}

  // A connection for the time of a call.
  class Lent {
   public:
    Lent(Pool& pool, std::unique_ptr<Session> session, bool used)
        : pool_(&pool), session_(std::move(session)), used_(used) {}
    Lent(Lent&&) noexcept = default;
    Lent& operator=(Lent&&) = delete;
    ~Lent() {
      if (session_) pool_->take_back(std::move(session_));
    }
    Session& operator*() const { return *session_; }
    Session* operator->() const { return session_.get(); }
    // It has been used by an earlier call, so the server may have closed it since.
    bool used() const { return used_; }

   private:
    Pool* pool_;
    std::unique_ptr<Session> session_;
    bool used_;
  };

  // An idle connection, or a new one. While the server does not take connections, it tries again,
  // with pauses that grow, for as long as connect_timeout_ms and the caller allow. Then
  // UNAVAILABLE. What trying again would not cure (a password, a name) is returned at once.
  Result<Lent> lend(const Op& op);
  // A new connection that nobody else has used.
  Result<std::unique_ptr<Session>> connect(const Op& op);
  // Closes the idle connections. One was found broken, so the others are, too.
  void forget_idle();
  // Calls that wait for a connection get UNAVAILABLE soon, and so does who asks later.
  void close();

 private:
  void take_back(std::unique_ptr<Session> session);
  Result<std::unique_ptr<Session>> try_once();
  std::optional<Error> pause(const Op& op, std::chrono::nanoseconds until,
                             std::chrono::milliseconds delay);

  const Host host_;
  const PostgresSettings& settings_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Session>> idle_;
  bool closed_ = false;
};

// UNAVAILABLE or FAILED_PRECONDITION: the server is not one that this plugin can write to.
Result<> judge_server(const Session::Server& server);

}  // namespace davit::storage_postgres
