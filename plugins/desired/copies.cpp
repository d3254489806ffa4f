// OperatorService/Backup and Verify: the storage copies or checks itself as a whole while it
// serves. The work holds one thread of the storage's pool. The call streams its progress.
#include <davit/v1/operator.pb.h>

#include "shared.hpp"

namespace davit::desired {

namespace {

constexpr std::chrono::seconds progress_interval{1};

// Does the work, reports progress through `tell`, and returns the last message.
using Work = std::function<Result<std::string>(const Op& op, const std::string& request,
                                               const storage::CopyProgress& tell)>;
// Makes a message of progress.
using UnderWay = std::function<std::string(uint64_t done, uint64_t total)>;

class Copy : public rpc::Handler {
 public:
  Copy(Shared& shared, rpc::Call call, Strand strand, Work work, UnderWay under_way)
      : shared_(shared),
        call_(call),
        strand_(std::move(strand)),
        work_(std::move(work)),
        under_way_(std::move(under_way)),
        state_(std::make_shared<State>()) {
    state_->copy = this;
  }
  ~Copy() override {
    state_->copy = nullptr;
    state_->over = true;
  }

  void on_message(Buffer request) override {
    if (std::exchange(asked_, true)) return;
    shared_.host.blocking(
        shared_.storage.instance(),
        [state = state_, strand = strand_, work = work_, request = std::string(request.view()),
         operation = call_.operation(), &shared = shared_, ticket = shared_.outstanding.begin()] {
          auto told = shared.host.now();
          auto last = work(operation, request, [&](uint64_t done, uint64_t total) {
            if (state->over || shared.stopping) return false;
            if (shared.host.now() - told < progress_interval) return true;
            told = shared.host.now();
            strand.post([state, done, total] {
              if (state->copy != nullptr) state->copy->tell(done, total);
            });
            return true;
          });
          strand.post([state, last = std::move(last), ticket]() mutable {
            if (state->copy != nullptr) state->copy->ended(std::move(last));
          });
        });
  }
  void on_end_of_messages() override {
    if (!asked_) finish({Code::invalid_argument, "the request message is missing"});
  }
  void on_writable() override {
    writing_ = false;
    if (last_) close();
  }
  void on_cancel() override {
    state_->over = true;
    finish({Code::cancelled, "the caller has gone"});
  }

 private:
  struct State {
    Copy* copy = nullptr;  // on the strand only; nullptr: the call is gone
    std::atomic<bool> over{false};
  };

  void tell(uint64_t done, uint64_t total) {
    if (finished_ || last_ || std::exchange(writing_, true)) return;
    call_.write(under_way_(done, total));
  }
  void ended(Result<std::string> last) {
    if (finished_) return;
    if (!last.ok()) return finish(rpc::End::of(last.error()));
    last_ = std::move(*last);
    if (!writing_) close();
  }
  void close() {
    if (finished_) return;
    call_.write(std::move(*last_));
    finish({});
  }
  void finish(const rpc::End& end) {
    if (!std::exchange(finished_, true)) call_.finish(end);
  }

  Shared& shared_;
  rpc::Call call_;
  Strand strand_;
  Work work_;
  UnderWay under_way_;
  std::shared_ptr<State> state_;
  std::optional<std::string> last_;  // the last message, while it waits to be written
  bool asked_ = false, writing_ = false, finished_ = false;
};

Result<> serve_copy(Shared& shared, const rpc::Server& server, rpc::Method method, Work work,
                    UnderWay under_way) {
  method.server_streams = true;
  return server.serve(method, [&shared, server, work = std::move(work),
                               under_way = std::move(under_way)](rpc::Call call) {
    const Strand strand = shared.host.strand();
    server.accept(call, strand, std::make_unique<Copy>(shared, call, strand, work, under_way));
    call.read();
  });
}

Error no_copies(const Shared& shared) {
  return {Code::unimplemented, "storage \"" + std::string(shared.storage.instance()) +
                                   "\" makes no copies of itself: use the tools of its database"};
}

template <class Request>
Result<Request> decoded(const std::string& bytes) {
  Request out;
  if (auto r = parse(out, bytes); !r.ok()) return r.error();
  return out;
}

Result<std::string> backup(const Shared& shared, const Op& op, const std::string& bytes,
                           const storage::CopyProgress& tell) {
  auto request = decoded<v1::BackupRequest>(bytes);
  if (!request.ok()) return request.error();
  if (!shared.copies) return no_copies(shared);
  auto copied = shared.copies->under(op).backup(request->path(), tell);
  if (!copied.ok()) return copied.error();
  v1::BackupResponse out;
  out.set_complete(true);
  out.set_bytes_done(copied->bytes);
  out.set_bytes_total(copied->bytes);
  out.set_incarnation(copied->head.incarnation.value());
  out.set_version(copied->head.version.value());
  return out.SerializeAsString();
}

Result<std::string> verify(const Shared& shared, const Op& op, const std::string& bytes,
                           const storage::CopyProgress& tell) {
  auto request = decoded<v1::VerifyRequest>(bytes);
  if (!request.ok()) return request.error();
  if (!shared.copies) return no_copies(shared);
  auto verified = shared.copies->under(op).verify(request->path(), tell);
  if (!verified.ok()) return verified.error();
  v1::VerifyResponse out;
  out.set_complete(true);
  out.set_bytes(verified->bytes);
  out.set_incarnation(verified->head.incarnation.value());
  out.set_version(verified->head.version.value());
  return out.SerializeAsString();
}

}  // namespace

Result<> serve_copies(Shared& shared, const rpc::Server& server) {
  auto served = serve_copy(
      shared, server, method("Backup", "BackupRequest", "BackupResponse"),
      [&shared](const Op& op, const std::string& request, const storage::CopyProgress& tell) {
        return backup(shared, op, request, tell);
      },
      [](uint64_t done, uint64_t total) {
        v1::BackupResponse out;
        out.set_bytes_done(done);
        out.set_bytes_total(total);
        return out.SerializeAsString();
      });
  if (!served.ok()) return served;
  return serve_copy(
      shared, server, method("Verify", "VerifyRequest", "VerifyResponse"),
      [&shared](const Op& op, const std::string& request, const storage::CopyProgress& tell) {
        return verify(shared, op, request, tell);
      },
      [](uint64_t, uint64_t) { return v1::VerifyResponse().SerializeAsString(); });
}

}  // namespace davit::desired
