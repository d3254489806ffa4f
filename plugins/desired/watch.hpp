// A method that goes on answering while what it answers changes: one loop for all of them. What is
// read and said stands in a Source; when to read again is the Lookout's word.
#pragma once

#include "shared.hpp"

namespace davit::desired {

// What one watch says. On the storage's pool, one call at a time.
class Source {
 public:
  virtual ~Source() = default;
  // The next message; nothing: all is said until the store moves. An error ends the watch.
  virtual Result<std::optional<std::string>> next() = 0;
  // True: when all is said the call ends.
  virtual bool ends() const { return false; }

  // The caller has gone: what is being read may be given up. Any thread.
  void leave() { left_ = true; }
  bool left() const { return left_; }

 private:
  std::atomic<bool> left_{false};
};

// Makes the source of a request, or says why not.
using MakeSource = std::function<Result<std::shared_ptr<Source>>(const Buffer& request)>;

// `agents`: what agents say concerns it, too. In wire() only; `shared` outlives every call.
Result<> serve_watch(Shared& shared, const rpc::Server& server, rpc::Method method, bool agents,
                     MakeSource make);

}  // namespace davit::desired
