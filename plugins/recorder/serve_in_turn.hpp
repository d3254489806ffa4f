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

// What a call asks of its region's turns: what its bytes do, or at least what a transaction of its
// own does.
enum class Counts { bytes, transaction };

// `work` runs on a strand, with no lock held.
Result<> serve_in_turn(Shared& shared, const rpc::Server& server, const rpc::Method& method,
                       Counts counts, std::function<void(Said)> work);

// While the call is there.
Turns::Ask ask_of(const Shared& shared, const rpc::Call& call, const std::string& region,
                  size_t bytes, Counts counts);

}  // namespace davit::recorder
