// OperatorService/Status, and WatchStatus: the same again whenever it changes.
#include <davit/v1/operator.pb.h>

#include "shared.hpp"
#include "survey.hpp"

namespace davit::desired {

namespace {

// How soon a watcher sees a change. People and `apply --wait` watch, so there are few; one look at
// an unchanged store is two short queries.
constexpr std::chrono::milliseconds look_interval{250};

class StatusStream : public rpc::Handler {
 public:
  StatusStream(Shared& shared, rpc::Call call, Strand strand)
      : shared_(shared),
        call_(call),
        strand_(strand),
        ticket_(shared.outstanding.begin()),
        timer_(strand),
        alive_(std::make_shared<bool>(true)) {}
  ~StatusStream() override { *alive_ = false; }

  void on_message(Buffer request) override {
    v1::StatusRequest message;
    if (!parse(message, request)) return finish(rpc::End::of(undecodable()));
    survey_ = std::make_shared<Survey>(shared_.storage,
                                       Selection{message.kind(), message.region(), message.id()});
    look();
  }
  void on_end_of_messages() override {
    if (!survey_) finish({Code::invalid_argument, "the request message is missing", {}});
  }
  void on_writable() override { wait(); }
  void on_cancel() override {
    finish({Code::unavailable, "the caller has gone or the server is shutting down", {}});
  }

 private:
  void wait() {
    if (!finished_) timer_.after(look_interval, [this] { look(); });
  }
  void look() {
    auto work = [survey = survey_](const storage::Client&) -> Result<std::optional<std::string>> {
      auto moved = survey->refresh();
      if (!moved.ok()) return moved.error();
      if (!*moved) return std::optional<std::string>();
      return std::optional<std::string>(survey->answer());
    };
    shared_.storage.run(
        strand_, std::move(work),
        [this, alive = alive_, ticket = ticket_](Result<std::optional<std::string>> answer) {
          if (*alive && !finished_) looked(std::move(answer));
        });
  }
  void looked(Result<std::optional<std::string>> answer) {
    if (!answer.ok()) return finish(rpc::End::of(answer.error()));
    if (!*answer || **answer == said_) return wait();
    said_ = **answer;
    call_.write(std::move(**answer));
  }
  void finish(const rpc::End& end) {
    if (std::exchange(finished_, true)) return;
    timer_.cancel();
    call_.finish(end);
  }

  Shared& shared_;
  rpc::Call call_;
  Strand strand_;
  Outstanding::Ticket ticket_;
  Timer timer_;
  std::shared_ptr<bool> alive_;  // on the strand only
  std::shared_ptr<Survey> survey_;
  std::string said_;
  bool finished_ = false;
};

}  // namespace

Result<> serve_status(Shared& shared, const rpc::Server& server) {
  auto served = server.unary(
      method("Status", "StatusRequest", "StatusResponse"),
      [&shared](rpc::Call, Buffer request, rpc::Server::Reply reply) {
        v1::StatusRequest message;
        if (!parse(message, request)) return reply(undecodable());
        const Selection selection{message.kind(), message.region(), message.id()};
        shared.host.blocking(
            shared.storage.instance(),
            [&shared, selection, reply = std::move(reply), ticket = shared.outstanding.begin()] {
              Survey survey(shared.storage, selection);
              auto r = survey.refresh();
              if (!r.ok()) return reply(r.error());
              if (survey.nothing() && shared.kinds.mistyped(selection.kind))
                return reply(shared.kinds.unknown(selection.kind));
              reply(survey.answer());
            });
      });
  if (!served.ok()) return served;
  rpc::Method watch = method("WatchStatus", "StatusRequest", "StatusResponse");
  watch.server_streams = true;
  return server.serve(watch, [&shared, server](rpc::Call call) {
    const Strand strand = shared.host.strand();
    server.accept(call, strand, std::make_unique<StatusStream>(shared, call, strand));
    call.read();
  });
}

}  // namespace davit::desired
