#include "serve_in_turn.hpp"

#include <algorithm>

namespace davit::recorder {
namespace {

// What a transaction of its own costs the store, beside statuses of so many bytes.
constexpr size_t transaction_work = 64 << 10;

// What answers also ends the turn.
rpc::Server::Reply in_turn(Shared& shared, const std::string& region, size_t bytes,
                           rpc::Server::Reply reply) {
  return [&shared, region, bytes, reply = std::move(reply),
          ticket = shared.outstanding.begin()](Result<std::string> answer) {
    shared.turns.leave(region, bytes);
    reply(std::move(answer));
  };
}

}  // namespace

void in_turn_of(Shared& shared, const Turns::Ask& ask, const rpc::Server::Reply& reply,
                std::function<void(rpc::Server::Reply)> work) {
  auto turn = shared.turns.enter(ask, [&shared, deadline = ask.deadline, work = std::move(work),
                                       ends = in_turn(shared, ask.region, ask.bytes, reply)] {
    if (shared.stopping)
      return ends(Error{Code::unavailable, "the server is shutting down", {}, {}});
    // The caller has been told, and asks again.
    if (deadline <= shared.host.now())
      return ends(Error{Code::deadline_exceeded, "the deadline has passed", {}, {}});
    work(ends);
  });
  if (!turn.ok()) {
    turn = shared.turns.enter_refusal(
        ask, [ends = in_turn(shared, ask.region, 0, reply), e = turn.error()] { ends(e); });
  }
  if (!turn.ok()) reply(turn.error());
}

// Of transactions of their own, one of a region is in progress at a time.
Turns::Ask ask_of(const Shared& shared, const rpc::Call& call, const std::string& region,
                  size_t bytes, Counts counts) {
  const Turns::Time deadline(call.deadline_ns());
  if (counts == Counts::bytes) return {region, bytes, bytes, deadline};
  return {region, std::max(bytes, shared.limits.turns.working_bytes),
          std::max(bytes, transaction_work), deadline};
}

Result<> serve_in_turn(Shared& shared, const rpc::Server& server, const rpc::Method& method,
                       Counts counts, std::function<void(Said)> work) {
  return server.unary(method, [&shared, counts, work = std::move(work)](
                                  rpc::Call call, Buffer request, rpc::Server::Reply reply) {
    auto region = rpc::authorized_region(call);
    if (!region.ok()) return reply(region.error());
    const Turns::Ask ask = ask_of(shared, call, *region, request.size(), counts);
    auto said = std::make_shared<Said>(
        Said{*region, call.metadata("x-davit-observed"), std::move(request), {}});
    in_turn_of(shared, ask, reply, [said, work](rpc::Server::Reply ends) {
      said->reply = std::move(ends);
      work(std::move(*said));
    });
  });
}

}  // namespace davit::recorder
