#include "serve_in_turn.hpp"

#include <algorithm>

namespace davit::recorder {
namespace {

// Each on a strand of its own: a reply may come on a thread of the storage's pool, which is not
// there for decoding.
void run(Shared& shared, std::vector<Turns::Job> jobs) {
  for (auto& job : jobs) {
    const Strand strand = shared.host.strand();
    strand.post([strand, job = std::move(job)] { job(); });
  }
}

// What answers also ends the turn.
rpc::Server::Reply in_turn(Shared& shared, const std::string& region, size_t bytes,
                           rpc::Server::Reply reply) {
  return [&shared, region, bytes, reply = std::move(reply),
          ticket = shared.outstanding.begin()](Result<std::string> answer) {
    run(shared, shared.turns.leave(region, bytes));
    reply(std::move(answer));
  };
}

}  // namespace

void in_turn_of(Shared& shared, const std::string& region, size_t bytes,
                const rpc::Server::Reply& reply, std::function<void(rpc::Server::Reply)> work) {
  auto turn = shared.turns.enter(
      region, bytes,
      [&shared, work = std::move(work), ends = in_turn(shared, region, bytes, reply)] {
        if (shared.stopping)
          return ends(Error{Code::unavailable, "the server is shutting down", {}, {}});
        work(ends);
      });
  if (!turn.ok()) {
    turn = shared.turns.enter_refusal(
        region, [ends = in_turn(shared, region, 0, reply), e = turn.error()] { ends(e); });
  }
  if (!turn.ok()) return reply(turn.error());
  for (const auto& job : *turn) job();  // this is the call's own strand
}

Result<> serve_in_turn(Shared& shared, const rpc::Server& server, const rpc::Method& method,
                       size_t bytes_min, std::function<void(Said)> work) {
  return server.unary(method, [&shared, bytes_min, work = std::move(work)](
                                  rpc::Call call, Buffer request, rpc::Server::Reply reply) {
    auto region = rpc::authorized_region(call);
    if (!region.ok()) return reply(region.error());
    const size_t bytes = std::max(request.size(), bytes_min);
    auto said = std::make_shared<Said>(
        Said{*region, call.metadata("x-davit-observed"), std::move(request), {}});
    in_turn_of(shared, *region, bytes, reply, [said, work](rpc::Server::Reply ends) {
      said->reply = std::move(ends);
      work(std::move(*said));
    });
  });
}

}  // namespace davit::recorder
