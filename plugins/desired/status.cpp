// OperatorService/Status, WatchStatus (the same again whenever it changes) and ListStatus (page by
// page).
#include <davit/v1/operator.pb.h>

#include "columns.hpp"
#include "status_pages.hpp"
#include "survey.hpp"

namespace davit::desired {

namespace {

Survey::Asks asks(Shared& shared) {
  return {
      [&shared](const davit_record& r, Inquiry& inquiry) { ask_unsent(shared.kinds, r, inquiry); },
      [&shared] { return shared.host.now(); }, [&shared] { return shared.delayed.all(); },
      [&shared](const Inquiry& inquiry) {
        return dated(inquiry, shared.unanswered, shared.host.unix_ms());
      }};
}

std::string answer_of(Shared& shared, const Selection& selection, const Survey& survey) {
  v1::StatusResponse out;
  survey.render(shared.host.unix_ms(), &out);
  add_columns(shared.kinds, selection.kind, DAVIT_COLUMN_DETAIL, out.mutable_columns());
  return out.SerializeAsString();
}

class StatusSource : public Source {
 public:
  StatusSource(Shared& shared, storage::Client storage, Selection selection)
      : shared_(shared),
        selection_(std::move(selection)),
        survey_(
            std::move(storage), shared.lag, selection_,
            [this] { return !left() && !shared_.stopping; }, asks(shared)) {}

  Result<std::optional<std::string>> next() override {
    auto moved = survey_.refresh();
    if (!moved.ok()) return moved.error();
    if (!*moved || survey_.inquiry()) return std::optional<std::string>();
    std::string answer = answer_of(shared_, selection_, survey_);
    if (answer == said_) return std::optional<std::string>();
    said_ = answer;
    return std::optional(std::move(answer));
  }
  std::shared_ptr<Inquiry> inquiry() const override { return survey_.inquiry(); }

 private:
  Shared& shared_;
  const Selection selection_;
  Survey survey_;
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
        survey(storage, s.lag, selection, std::move(go_on), asks(s)),
        reply(std::move(r)) {}
  Shared& shared;
  const storage::Client storage;
  const Selection selection;
  Survey survey;
  const rpc::Server::Reply reply;
  const Strand strand = shared.host.strand();
  const Outstanding::Ticket ticket = shared.outstanding.begin();
};

// Reads on the storage's pool, as often as there is something to ask the kinds.
void read_status(const std::shared_ptr<StatusCall>& call) {
  Shared& shared = call->shared;
  shared.host.blocking(call->storage.instance(), [&shared, call] {
    const auto r = call->survey.refresh();
    if (!r.ok()) return call->reply(r.error());
    if (const auto inquiry = call->survey.inquiry())
      return Inquiry::run(shared.host, call->strand, inquiry, [call] { read_status(call); });
    if (call->survey.nothing() && shared.kinds.mistyped(call->selection.kind))
      return call->reply(shared.kinds.unknown(call->selection.kind));
    call->reply(answer_of(shared, call->selection, call->survey));
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
