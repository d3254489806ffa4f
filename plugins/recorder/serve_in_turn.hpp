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

// `work` runs on a strand, with no other lock held.
Result<> serve_in_turn(Shared& shared, const rpc::Server& server, const rpc::Method& method,
                       std::function<void(Said)> work);

}  // namespace davit::recorder
