// OperatorService/Status, WatchStatus (the same again whenever it changes) and ListStatus (page by
// page).
#include <davit/v1/operator.pb.h>

#include "columns.hpp"
#include "status_pages.hpp"
#include "status_reader.hpp"

namespace davit::desired {

namespace {

StatusReader::Asks asks(Shared& shared) {
  return {[&shared](const davit_record& r, KindQueries& queries) {
            ask_unsent(shared.kinds, r, queries);
          },
          [&shared] { return shared.host.now(); }, [&shared] { return shared.delayed.all(); },
          [&shared](const KindQueries& queries) {
            return dated(queries, shared.unanswered, shared.host.unix_ms());
          }};
}

std::string answer_of(Shared& shared, const Selection& selection, const StatusReader& reader) {
  v1::StatusResponse out;
  reader.render(shared.host.unix_ms(), &out);
  add_columns(shared.kinds, selection.kind, DAVIT_COLUMN_DETAIL, out.mutable_columns());
  return out.SerializeAsString();
}

class StatusSource : public Source {
 public:
  StatusSource(Shared& shared, storage::Client storage, Selection selection)
      : shared_(shared),
        selection_(std::move(selection)),
        reader_(
            std::move(storage), shared.lag, selection_,
            [this] { return !left() && !shared_.stopping; }, asks(shared)) {}

  Result<std::optional<std::string>> next() override {
    auto moved = reader_.refresh();
    if (!moved.ok()) return moved.error();
    if (!*moved || reader_.queries()) return std::optional<std::string>();
    std::string answer = answer_of(shared_, selection_, reader_);
    if (answer == said_) return std::optional<std::string>();
    said_ = answer;
    return std::optional(std::move(answer));
  }
  std::shared_ptr<KindQueries> queries() const override { return reader_.queries(); }

 private:
  Shared& shared_;
  const Selection selection_;
  StatusReader reader_;
  std::string said_;
};

Selection selection_of(const v1::StatusRequest& message) {
  return {message.kind(), message.region(), message.id()};
}

// One call of Status. It lives until it has replied.
struct StatusCall {
  StatusCall(Shared& s, storage::Client reads, Selection selects, GoOn go_on, rpc::Server::Reply r)
      : shared(s),
        storage(std::move(reads)),
        selection(std::move(selects)),
        reader(storage, s.lag, selection, std::move(go_on), asks(s)),
        reply(std::move(r)) {}
  Shared& shared;
  const storage::Client storage;
  const Selection selection;
  StatusReader reader;
  const rpc::Server::Reply reply;
  const Strand strand = shared.host.strand();
  const Outstanding::Ticket ticket = shared.outstanding.begin();
};

// Reads on the storage's pool, as often as there is something to ask the kinds.
void read_status(const std::shared_ptr<StatusCall>& call) {
  Shared& shared = call->shared;
  shared.host.blocking(call->storage.instance(), [&shared, call] {
    const auto r = call->reader.refresh();
    if (!r.ok()) return call->reply(r.error());
    if (const auto queries = call->reader.queries())
      return KindQueries::run(shared.host, call->strand, queries, [call] { read_status(call); });
    if (call->reader.nothing() && shared.kinds.mistyped(call->selection.kind))
      return call->reply(shared.kinds.unknown(call->selection.kind));
    call->reply(answer_of(shared, call->selection, call->reader));
  });
}

// Makes a source of type S from a StatusRequest.
template <class S>
MakeSource source_of(Shared& shared) {
  return [&shared](const Buffer& request,
                   const storage::Client& storage) -> Result<std::shared_ptr<Source>> {
    v1::StatusRequest message;
    if (auto r = parse(message, request.view()); !r.ok()) return r.error();
    return std::shared_ptr<Source>(std::make_shared<S>(shared, storage, selection_of(message)));
  };
}

}  // namespace

Result<> serve_status(Shared& shared, const rpc::Server& server) {
  auto served =
      server.unary(method("Status", "StatusRequest", "StatusResponse"),
                   [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
                     v1::StatusRequest message;
                     if (auto r = parse(message, request.view()); !r.ok()) return reply(r.error());
                     read_status(std::make_shared<StatusCall>(
                         shared, shared.storage.under(call.operation()), selection_of(message),
                         shared.while_waits(call), std::move(reply)));
                   });
  if (!served.ok()) return served;
  served = serve_watch(shared, server, method("WatchStatus", "StatusRequest", "StatusResponse"),
                       true, source_of<StatusSource>(shared));
  if (!served.ok()) return served;
  return serve_watch(shared, server, method("ListStatus", "StatusRequest", "StatusResponse"), false,
                     source_of<StatusPages>(shared));
}

}  // namespace davit::desired
