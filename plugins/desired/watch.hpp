// Serves the methods that stream answers: Watch, WatchStatus and ListStatus. One loop serves them
// all. A Source reads the store and makes the messages. The StoreWatcher says when to read again.
#pragma once

#include "kind_queries.hpp"
#include "shared.hpp"

namespace davit::desired {

// The messages of one call. On the storage's pool, one call of next() at a time.
class Source {
 public:
  virtual ~Source() = default;
  // The next message; nothing: there is none until the store changes. An error ends the call.
  virtual Result<std::optional<std::string>> next() = 0;
  // Not NULL when next() gave no message because kinds are to be asked first: run it, and call
  // next() again.
  virtual std::shared_ptr<KindQueries> queries() const { return nullptr; }
  // True: the call ends when there is no next message.
  virtual bool ends() const { return false; }

  // The caller is gone, so a read in progress may be given up. [any]
  void leave() { left_ = true; }
  bool left() const { return left_; }

 private:
  std::atomic<bool> left_{false};
};

// Makes the source of a request. An error ends the call.
// `storage` is under the call's operation.
using MakeSource = std::function<Result<std::shared_ptr<Source>>(const Buffer& request,
                                                                 const storage::Client& storage)>;

// `agents`: changes of the agents' progress wake the call, too. In wire() only; `shared` outlives
// every call.
Result<> serve_watch(Shared& shared, const rpc::Server& server, rpc::Method method, bool agents,
                     MakeSource make);

}  // namespace davit::desired
