#include "serve_in_turn.hpp"

#include <algorithm>

namespace davit::recorder {
namespace {

// What a transaction of its own costs the store, beside statuses of so many bytes.
constexpr size_t transaction_work = 64 << 10;

}  // namespace

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
    shared.turns.in_turn(ask, reply, [said, work](rpc::Server::Reply ends) {
      said->reply = std::move(ends);
      work(std::move(*said));
    });
  });
}

}  // namespace davit::recorder
