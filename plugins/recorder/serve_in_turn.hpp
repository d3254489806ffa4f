// Serves a method whose calls wait for their region's turn (davit/turn_runner.hpp), so that no
// region waits for another.
#pragma once

#include "shared.hpp"

namespace davit::recorder {

// The content of a call, kept until its turn; the call itself may be gone by then.
struct Said {
  std::string region;    // the caller's credential names it
  std::string observed;  // the header x-davit-observed
  Buffer message;
  Operation caller;          // cancelled when nobody waits for the reply any more
  rpc::Server::Reply reply;  // call once; that ends the turn
};

// What a call counts as in its region's turns and pace: its bytes, or at least a transaction of its
// own.
enum class Counts { bytes, transaction };

// `work` runs on a strand, with no lock held.
Result<> serve_in_turn(Shared& shared, const rpc::Server& server, const rpc::Method& method,
                       Counts counts, std::function<void(Said)> work);

// Only while the call exists.
Turns::Ask ask_of(const Shared& shared, const rpc::Call& call, const std::string& region,
                  size_t bytes, Counts counts);

}  // namespace davit::recorder
