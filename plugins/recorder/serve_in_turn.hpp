// Serves a method whose calls are worked on in their region's turn.
#pragma once

#include "shared.hpp"

namespace davit::recorder {

// What a call says, kept until its turn: the call itself may be gone by then.
struct Said {
  std::string region;    // one that the caller's credential names
  std::string observed;  // the header x-davit-observed
  Buffer message;
  rpc::Server::Reply reply;  // to be called once; that ends the turn
};

// `work` runs on a strand, with no lock held. A call counts as `bytes_min` bytes at least.
Result<> serve_in_turn(Shared& shared, const rpc::Server& server, const rpc::Method& method,
                       size_t bytes_min, std::function<void(Said)> work);

// The same for a call whose region is known: `work` gets what it is to reply by. On the call's
// strand.
void in_turn_of(Shared& shared, const std::string& region, size_t bytes,
                const rpc::Server::Reply& reply, std::function<void(rpc::Server::Reply)> work);

}  // namespace davit::recorder
