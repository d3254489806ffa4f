#include "watch.hpp"

namespace davit::desired {

namespace {

class Watch : public rpc::Handler {
 public:
  Watch(Shared& shared, rpc::Call call, const Strand& strand, bool agents, MakeSource make)
      : shared_(shared),
        call_(call),
        make_(std::move(make)),
        ticket_(shared.outstanding.begin()),
        subscriber_(std::make_shared<StoreWatcher::Subscriber>()) {
    *subscriber_ = {strand, [this](StoreWatcher::Event event) { notice(event); }, agents};
  }
  ~Watch() override {
    subscriber_->notify = nullptr;
    shared_.store_watcher.unsubscribe(subscriber_);
  }

  void on_message(Buffer request) override {
    auto source = make_(request, shared_.storage.under(call_.operation()));
    if (!source.ok()) return finish(rpc::End::of(source.error()));
    source_ = std::move(*source);
    // Subscribe before the first read, so that no change after that read is missed.
    if (!shared_.store_watcher.subscribe(subscriber_)) return notice(StoreWatcher::Event::stopping);
    read();
  }
  void on_end_of_messages() override {
    if (!source_) finish({Code::invalid_argument, "the request message is missing"});
  }
  void on_writable() override {
    busy_ = false;
    read();
  }
  void on_cancel() override { finish({Code::cancelled, "the caller has gone"}); }

 private:
  void notice(StoreWatcher::Event event) {
    if (event == StoreWatcher::Event::stopping) return finish(rpc::End::of(shutting_down()));
    again_ = true;
    read();
  }
  // One read or one write at a time.
  void read() {
    if (finished_ || std::exchange(busy_, true)) return;
    again_ = false;
    shared_.storage.run(
        subscriber_->strand, [source = source_](const storage::Client&) { return source->next(); },
        [this, subscriber = subscriber_,
         ticket = ticket_](Result<std::optional<std::string>> said) {
          if (subscriber->notify && !finished_) took(std::move(said));
        });
  }
  void took(Result<std::optional<std::string>> said) {
    if (!said.ok()) return finish(rpc::End::of(said.error()));
    if (*said) return call_.write(std::move(**said));
    if (auto queries = source_->queries()) return ask(queries);
    if (source_->ends()) return finish({});
    busy_ = false;
    if (again_) read();
  }
  // The kinds are asked, then the read goes on.
  void ask(const std::shared_ptr<KindQueries>& queries) {
    KindQueries::run(shared_.host, subscriber_->strand, queries,
                     [this, subscriber = subscriber_, ticket = ticket_] {
                       if (!subscriber->notify || finished_) return;
                       busy_ = false;
                       read();
                     });
  }
  void finish(const rpc::End& end) {
    if (source_) source_->leave();
    if (!std::exchange(finished_, true)) call_.finish(end);
  }

  Shared& shared_;
  rpc::Call call_;
  MakeSource make_;
  Outstanding::Ticket ticket_;
  std::shared_ptr<StoreWatcher::Subscriber> subscriber_;
  std::shared_ptr<Source> source_;
  bool busy_ = false;   // a read or a write is in progress
  bool again_ = false;  // the store changed meanwhile
  bool finished_ = false;
};

}  // namespace

Result<> serve_watch(Shared& shared, const rpc::Server& server, rpc::Method method, bool agents,
                     MakeSource make) {
  method.server_streams = true;
  return server.serve(method, [&shared, server, agents, make = std::move(make)](rpc::Call call) {
    const Strand strand = shared.host.strand();
    server.accept(call, strand, std::make_unique<Watch>(shared, call, strand, agents, make));
    call.read();
  });
}

}  // namespace davit::desired
