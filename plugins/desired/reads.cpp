// OperatorService/Get, List and Watch.

#include <davit/v1/operator.pb.h>

#include "columns.hpp"
#include "document.hpp"
#include "finding.hpp"
#include "listing.hpp"
#include "page_size.hpp"
#include "page_token.hpp"
#include "render.hpp"

namespace davit::desired {

namespace {

constexpr uint32_t page_size_default = 100;

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
    if (!page.ok() && page.error().code == Code::out_of_range && at.version) {
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
  const auto found = find(shared, storage, {key, {}, {}});
  if (!found.ok()) return found.error();
  if (found->records.empty()) {
    return Error{Code::not_found,
                 "no " + key.kind + " \"" + key.id + "\" in region \"" + key.region + "\""};
  }
  const Record& record = found->records.front();
  to_wire(record, found->head.incarnation, response.mutable_record());
  auto status = status_of(storage, key, go_on);
  if (!status.ok()) return status.error();
  // A deleted record whose removal is confirmed has no status to show.
  if (*status && !is_gone(wanted(RecordView(record).abi), **status))
    to_wire(**status, response.mutable_status());
  add_columns(shared.kinds, key.kind, DAVIT_COLUMN_SPEC, response.mutable_columns());
  return response.SerializeAsString();
}

Result<std::string> list_page(Shared& shared, const storage::Client& storage,
                              const v1::ListRequest& request, Cursor from) {
  const uint32_t limit = request.page_size() == 0 ? page_size_default : request.page_size();
  const auto found = list(
      shared, storage, {request.kind(), request.region(), from, limit, request.include_deleted()});
  if (!found.ok()) return found.error();
  v1::ListResponse response;
  for (const Record& r : found->records)
    to_wire(r, found->head.incarnation, response.add_records());
  add_columns(shared.kinds, request.kind(), DAVIT_COLUMN_SPEC, response.mutable_columns());
  if (found->more) response.set_next_page_token(to_token(found->next));
  return response.SerializeAsString();
}

// The source of Watch: the pages of a Listing, encoded.
class ListingSource : public Source {
 public:
  ListingSource(Shared& shared, storage::Client storage, const Selection& selection,
                bool include_deleted)
      : kinds_(shared.kinds),
        kind_(selection.kind),
        listing_(shared, std::move(storage), selection, include_deleted, {},
                 [this] { return !left(); }) {}

  Result<std::optional<std::string>> next() override {
    const auto news = listing_.next();
    if (!news.ok()) return news.error();
    if (!*news) return std::optional<std::string>();
    v1::OperatorWatchResponse response;
    for (const Record& r : (*news)->records)
      to_wire(r, listing_.incarnation(), response.add_records());
    response.set_current((*news)->current);
    if (!std::exchange(begun_, true))
      add_columns(kinds_, kind_, DAVIT_COLUMN_SPEC, response.mutable_columns());
    return std::optional(response.SerializeAsString());
  }

 private:
  const Kinds& kinds_;
  const std::string kind_;
  Listing listing_;
  bool begun_ = false;
};

}  // namespace

Result<> serve_reads(Shared& shared, const rpc::Server& server) {
  auto served = server.unary(
      method("Get", "OperatorGetRequest", "OperatorGetResponse"),
      [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
        v1::OperatorGetRequest message;
        if (auto r = parse(message, request.view()); !r.ok()) return reply(r.error());
        const Key key{message.key().kind(), message.key().region(), message.key().id()};
        if (key.kind.empty() || key.region.empty() || key.id.empty()) {
          return reply(Error{Code::invalid_argument, "kind, region and id are needed", "key"});
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
        if (auto r = parse(message, request.view()); !r.ok()) return reply(r.error());
        auto from = from_token(message.page_token());
        if (!from.ok()) return reply(from.error());
        shared.host.blocking(
            shared.storage.instance(),
            [&shared, storage = shared.storage.under(call.operation()), message, from = *from,
             reply = std::move(reply), ticket = shared.outstanding.begin()] {
              reply(list_page(shared, storage, message, from));
            });
      });
  if (!served.ok()) return served;
  return serve_watch(
      shared, server, method("Watch", "OperatorWatchRequest", "OperatorWatchResponse"), false,
      [&shared](const Buffer& request,
                const storage::Client& storage) -> Result<std::shared_ptr<Source>> {
        v1::OperatorWatchRequest message;
        if (auto r = parse(message, request.view()); !r.ok()) return r.error();
        return std::shared_ptr<Source>(std::make_shared<ListingSource>(
            shared, storage, Selection{message.kind(), message.region(), message.id()},
            message.include_deleted()));
      });
}

}  // namespace davit::desired
