// OperatorService/Status, WatchStatus (the same again whenever it changes) and ListStatus (page by
// page).
#include <davit/v1/operator.pb.h>

#include "columns.hpp"
#include "status_pages.hpp"
#include "survey.hpp"

namespace davit::desired {

namespace {

Board::Unsent asks(const Shared& shared) {
  return [&shared](const davit_record& r) { return shared.kinds.unsent(r); };
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
    if (!*moved) return std::optional<std::string>();
    std::string answer = answer_of(shared_, selection_, survey_);
    if (answer == said_) return std::optional<std::string>();
    said_ = answer;
    return std::optional(std::move(answer));
  }

 private:
  Shared& shared_;
  const Selection selection_;
  Survey survey_;
  std::string said_;
};

Selection selection_of(const v1::StatusRequest& message) {
  return {message.kind(), message.region(), message.id()};
}

Result<std::string> status(Shared& shared, const storage::Client& storage,
                           const Selection& selection, const GoOn& go_on) {
  Survey survey(storage, shared.lag, selection, go_on, asks(shared));
  auto r = survey.refresh();
  if (!r.ok()) return r.error();
  if (survey.nothing() && shared.kinds.mistyped(selection.kind))
    return shared.kinds.unknown(selection.kind);
  return answer_of(shared, selection, survey);
}

// Makes a source of type S from a StatusRequest.
template <class S>
MakeSource source_of(Shared& shared) {
  return [&shared](const Buffer& request,
                   const storage::Client& storage) -> Result<std::shared_ptr<Source>> {
    v1::StatusRequest message;
    if (!parse(message, request)) return undecodable();
    return std::shared_ptr<Source>(std::make_shared<S>(shared, storage, selection_of(message)));
  };
}

}  // namespace

Result<> serve_status(Shared& shared, const rpc::Server& server) {
  auto served = server.unary(
      method("Status", "StatusRequest", "StatusResponse"),
      [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
        v1::StatusRequest message;
        if (!parse(message, request)) return reply(undecodable());
        shared.host.blocking(shared.storage.instance(),
                             [&shared, storage = shared.storage.under(call.operation()),
                              selection = selection_of(message), go_on = shared.while_waits(call),
                              reply = std::move(reply), ticket = shared.outstanding.begin()] {
                               reply(status(shared, storage, selection, go_on));
                             });
      });
  if (!served.ok()) return served;
  served = serve_watch(shared, server, method("WatchStatus", "StatusRequest", "StatusResponse"),
                       true, source_of<StatusSource>(shared));
  if (!served.ok()) return served;
  return serve_watch(shared, server, method("ListStatus", "StatusRequest", "StatusResponse"), false,
                     source_of<StatusPages>(shared));
}

}  // namespace davit::desired
