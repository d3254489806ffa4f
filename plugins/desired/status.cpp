// OperatorService/Status, and WatchStatus: the same again whenever it changes.
#include <davit/v1/operator.pb.h>

#include "survey.hpp"
#include "watch.hpp"

namespace davit::desired {

namespace {

class StatusSource : public Source {
 public:
  StatusSource(const storage::Client& storage, Selection selection)
      : survey_(storage, std::move(selection)) {}

  Result<std::optional<std::string>> next() override {
    auto moved = survey_.refresh();
    if (!moved.ok()) return moved.error();
    if (!*moved) return std::optional<std::string>();
    std::string answer = survey_.answer();
    if (answer == said_) return std::optional<std::string>();
    said_ = answer;
    return std::optional(std::move(answer));
  }

 private:
  Survey survey_;
  std::string said_;
};

Selection selection_of(const v1::StatusRequest& message) {
  return {message.kind(), message.region(), message.id()};
}

}  // namespace

Result<> serve_status(Shared& shared, const rpc::Server& server) {
  auto served = server.unary(method("Status", "StatusRequest", "StatusResponse"),
                             [&shared](rpc::Call, Buffer request, rpc::Server::Reply reply) {
                               v1::StatusRequest message;
                               if (!parse(message, request)) return reply(undecodable());
                               shared.host.blocking(
                                   shared.storage.instance(),
                                   [&shared, selection = selection_of(message),
                                    reply = std::move(reply), ticket = shared.outstanding.begin()] {
                                     Survey survey(shared.storage, selection);
                                     auto r = survey.refresh();
                                     if (!r.ok()) return reply(r.error());
                                     if (survey.nothing() && shared.kinds.mistyped(selection.kind))
                                       return reply(shared.kinds.unknown(selection.kind));
                                     reply(survey.answer());
                                   });
                             });
  if (!served.ok()) return served;
  return serve_watch(shared, server, method("WatchStatus", "StatusRequest", "StatusResponse"), true,
                     [&shared](const Buffer& request) -> Result<std::shared_ptr<Source>> {
                       v1::StatusRequest message;
                       if (!parse(message, request)) return undecodable();
                       return std::shared_ptr<Source>(
                           std::make_shared<StatusSource>(shared.storage, selection_of(message)));
                     });
}

}  // namespace davit::desired
