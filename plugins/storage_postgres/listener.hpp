// Carries hints between the servers of one database, by LISTEN and NOTIFY on a connection and a
// thread of its own. A NOTIFY takes a lock of the whole database until its commit, so it is never
// part of a commit of records: it follows, and one stands for all that waited meanwhile.
//
// A hint may be lost; readers read at intervals, too. When the connection was lost, everything is
// hinted as soon as there is a new one.
//
// The connection also has the locks of the process: that it works with the store, and, of one
// process, that it leads. The server frees them when the connection ends. It ends a connection that
// has asked nothing for `lease`, because its process has stopped or is out of reach. A leader that
// has asked nothing for so long no longer leads, whether it has noticed or not.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "davit/operation.hpp"
#include "pool.hpp"

namespace davit::storage_postgres {

class Listener {
 public:
  // `heard` is called on the listener's thread with DAVIT_HINT_... of other processes. The channel
  // has the schema's name.
  Listener(const Host& host, Pool& pool, std::string schema,
           std::function<void(uint32_t what)> heard);
  ~Listener() { end(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // `first` is the first connection, which shares the store already (presence.hpp).
  void begin(std::unique_ptr<Session> first);
  // Waits for the thread. The pool is closed before, so no attempt to connect lasts.
  void end();
  // Tells the other processes soon. Does not block.
  void tell(uint32_t what);
  // Whether there is a connection that listens.
  bool listens() const { return listens_; }
  // Whether this process leads. [any]
  bool leads() const { return host_.now().count() < leads_until_; }

 private:
  void run();
  void listen();
  void wait(pqxx::connection& connection);
  void ask_who_leads(Session& session);
  void rest(std::chrono::milliseconds delay);
  void wake();
  bool ended() const { return operation_.cancelled(); }

  const Host host_;
  Pool& pool_;
  const std::string schema_;
  const std::function<void(uint32_t)> heard_;
  const Operation operation_;  // cancelled at the end
  std::unique_ptr<Session> first_;
  std::atomic<uint32_t> wanted_{0};
  std::atomic<bool> listens_{false};
  std::atomic<int64_t> leads_until_{0};  // in ns of the host's clock
  std::chrono::nanoseconds ask_at_{0};   // on the listener's thread
  int wake_ = -1;                        // an eventfd
  std::thread thread_;
};

}  // namespace davit::storage_postgres
