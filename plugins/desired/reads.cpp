// OperatorService/Get, List and Watch.

#include <algorithm>

#include <davit/v1/operator.pb.h>

#include "columns.hpp"
#include "document.hpp"
#include "listing.hpp"
#include "page_size.hpp"
#include "page_token.hpp"
#include "render.hpp"

namespace davit::desired {

namespace {

constexpr uint32_t page_size_default = 100;
constexpr uint32_t page_size_max = 1000;
constexpr uint64_t page_bytes_max = 8 << 20;

// Reads through the statuses of the kind and region, because the store cannot look up one status.
Result<std::optional<Status>> status_of(const storage::Client& storage, const Key& key,
                                        const GoOn& go_on) {
  std::optional<Status> found;
  for (Cursor at; go_on();) {
    auto page = storage.statuses({{key.kind, key.region}, at, records_per_page, bytes_per_page},
                                 [&](const davit_status& s) {
                                   if (view(s.key.id) != key.id) return true;
                                   found = from_abi(s);
                                   return false;
                                 });
    if (!page.ok() && page.error().code == Code::out_of_range && at.version != 0) {
      at = {};  // the history changed meanwhile
      continue;
    }
    if (!page.ok()) return page.error();
    if (found || !page->more) return found;
    if (page->next.version <= at.version) return stands_still();
    at = page->next;
  }
  return given_up();
}

// Runs on the storage's pool.
Result<std::string> get(Shared& shared, const storage::Client& storage, const Key& key,
                        const GoOn& go_on) {
  v1::OperatorGetResponse response;
  Wanted record;
  auto head = storage.get({key, {}, {}}, [&](const davit_record& r) {
    record = wanted(r);
    to_wire(shared.kinds.get(key.kind), from_abi(r), response.mutable_record());
    return false;
  });
  if (!head.ok()) return head.error();
  if (!response.has_record()) {
    if (shared.kinds.mistyped(key.kind)) return shared.kinds.unknown(key.kind);
    return Error{Code::not_found,
                 "no " + key.kind + " \"" + key.id + "\" in region \"" + key.region + "\"",
                 {},
                 {}};
  }
  auto status = status_of(storage, key, go_on);
  if (!status.ok()) return status.error();
  // A deleted record whose removal is confirmed has no status to show.
  if (*status && !is_gone(record, **status)) to_wire(**status, response.mutable_status());
  add_columns(shared.kinds, key.kind, DAVIT_COLUMN_SPEC, response.mutable_columns());
  return response.SerializeAsString();
}

Result<std::string> list(Shared& shared, const storage::Client& storage,
                         const v1::ListRequest& request, Cursor from) {
  v1::ListResponse response;
  const uint32_t limit =
      request.page_size() == 0 ? page_size_default : std::min(request.page_size(), page_size_max);
  const auto dead_after = leave_out_none(storage);
  if (!dead_after.ok()) return dead_after.error();
  auto page = storage.read(
      {{request.kind(), request.region()}, from, *dead_after, limit, page_bytes_max},
      [&](const davit_record& r) {
        // Stopped and archived records are listed, too.
        if (request.include_deleted() || view(r.state) != "deleted")
          to_wire(shared.kinds.get(view(r.key.kind)), from_abi(r), response.add_records());
        return true;
      });
  if (!page.ok()) return page.error();
  const bool nothing = from.version == 0 && response.records_size() == 0;
  if (nothing && shared.kinds.mistyped(request.kind())) return shared.kinds.unknown(request.kind());
  add_columns(shared.kinds, request.kind(), DAVIT_COLUMN_SPEC, response.mutable_columns());
  if (page->more)
    response.set_next_page_token(to_token({page->head.head.incarnation, page->next_version}));
  return response.SerializeAsString();
}

}  // namespace

Result<> serve_reads(Shared& shared, const rpc::Server& server) {
  auto served = server.unary(
      method("Get", "OperatorGetRequest", "OperatorGetResponse"),
      [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
        v1::OperatorGetRequest message;
        if (!parse(message, request)) return reply(undecodable());
        const Key key{message.key().kind(), message.key().region(), message.key().id()};
        if (key.kind.empty() || key.region.empty() || key.id.empty()) {
          return reply(Error{Code::invalid_argument, "kind, region and id are needed", "key", {}});
        }
        shared.host.blocking(
            shared.storage.instance(),
            [&shared, storage = shared.storage.under(call.operation()), key,
             go_on = shared.while_waits(call), reply = std::move(reply),
             ticket = shared.outstanding.begin()] { reply(get(shared, storage, key, go_on)); });
      });
  if (!served.ok()) return served;
  served = server.unary(
      method("List", "ListRequest", "ListResponse"),
      [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
        v1::ListRequest message;
        if (!parse(message, request)) return reply(undecodable());
        auto from = from_token(message.page_token());
        if (!from.ok()) return reply(from.error());
        shared.host.blocking(
            shared.storage.instance(),
            [&shared, storage = shared.storage.under(call.operation()), message, from = *from,
             reply = std::move(reply),
             ticket = shared.outstanding.begin()] { reply(list(shared, storage, message, from)); });
      });
  if (!served.ok()) return served;
  return serve_watch(
      shared, server, method("Watch", "OperatorWatchRequest", "OperatorWatchResponse"), false,
      [&shared](const Buffer& request,
                const storage::Client& storage) -> Result<std::shared_ptr<Source>> {
        v1::OperatorWatchRequest message;
        if (!parse(message, request)) return undecodable();
        return std::shared_ptr<Source>(std::make_shared<Listing>(
            shared, storage, Selection{message.kind(), message.region(), message.id()},
            message.include_deleted()));
      });
}

}  // namespace davit::desired
