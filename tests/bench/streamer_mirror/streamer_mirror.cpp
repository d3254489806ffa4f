// The mirror: what the original control plane does, for the bench to compare with. It speaks
// ctrl.v1 alone, in the messages of our streamer, whose parts it is made of. Each stream reads the
// store for itself in pages of 100 records, sends one record a message, and sleeps for a second
// after an empty page. Nothing is shared and nothing wakes a stream.
#include "frames.hpp"
#include "point_query.hpp"
#include "request.hpp"

namespace davit::streamer_mirror {

using streamer::Change;
using streamer::Classifier;
using streamer::Topic;
using streamer::Verb;

constexpr std::chrono::seconds nap{1};
constexpr uint32_t page_records = 100;
constexpr uint64_t page_bytes = UINT64_MAX >> 1;

// What the streams share. It lives as long as the plugin.
struct Common {
  Host host;
  Classifier& classifier;
  storage::Client storage;
  Outstanding& outstanding;
  Metric pages_read;
};

// One watch. Everything runs on the call's strand, except reads of the store and what asks the
// kind.
class MirrorStream : public rpc::Handler {
 public:
  MirrorStream(Common& common, const rpc::Call& call, Strand strand, const Classifier::Kind& kind)
      : common_(common),
        call_(call),
        strand_(std::move(strand)),
        kind_(kind),
        krane_(!streamer::is_davit(call)),
        ticket_(common.outstanding.begin()),
        nap_(strand_) {}

  void on_message(Buffer request) override {
    auto region = rpc::authorized_region(call_);
    if (!region.ok()) return finish(rpc::End::of(region.error()));
    auto wanted = streamer::parse_ctrl_watch(kind_.client.kind(), request.view(), *region);
    if (!wanted.ok()) return finish(rpc::End::of(wanted.error()));
    topic_ = wanted->front().topic;
    cursor_ = wanted->front().cursor;
    read();
  }
  void on_end_of_messages() override {
    if (topic_.kind.empty()) finish({Code::invalid_argument, "the request message is missing"});
  }
  void on_writable() override {
    writing_ = false;
    go_on();
  }
  void on_cancel() override { finish(rpc::End::of(shutting_down())); }

 private:
  struct Answer {
    Page page;
    std::vector<Record> records;
    std::vector<Buffer> messages;
  };

  // On the storage's pool. The first page begins at the head's incarnation, and a cursor of 0 is
  // told of all tombstones.
  static Result<Answer> fetch(const storage::Client& storage, const Topic& topic, Cursor cursor) {
    Version dead_after{};
    if (cursor.incarnation == 0) {
      auto head = storage.head();
      if (!head.ok()) return head.error();
      cursor.incarnation = head->head.incarnation;
      if (cursor.version == 0) dead_after = head->purged_through;
    }
    Answer out;
    auto page = storage.read(
        {{topic.kind, topic.region}, cursor, dead_after, page_records, page_bytes, true},
        [&](const davit_record& r) {
          out.records.push_back(from_abi(r));
          return true;
        });
    if (!page.ok()) return page.error();
    out.page = *page;
    return out;
  }

  // On the kind's pool.
  static void make_messages(const Common& common, const Classifier::Kind& kind, bool krane,
                            Answer& answer) {
    for (const Record& record : answer.records) {
      const auto change = common.classifier.change(kind, record);
      if (change.ok() && change->verb != Verb::hold && !change->name.empty())
        answer.messages.push_back(message(kind, *change, krane));
    }
  }

  static Buffer message(const Classifier::Kind& kind, const Change& change, bool krane) {
    auto made = krane ? streamer::encode_krane_state(kind, change, change.version)
                      : streamer::encode_state(kind, change, change.version);
    return made.ok() ? Buffer::of(std::move(*made))
                     : streamer::encode_state_bookmark(change.version);
  }

  void read() {
    common_.storage.run(
        strand_,
        [topic = topic_, cursor = cursor_](const storage::Client& storage) {
          return fetch(storage, topic, cursor);
        },
        [this, alive = std::weak_ptr<bool>(alive_), ticket = ticket_](Result<Answer> answer) {
          if (!alive.expired() && !finished_) fetched(std::move(answer));
        });
  }

  void fetched(Result<Answer> answer) {
    if (!answer.ok()) return finish(rpc::End::of(answer.error()));
    common_.pages_read.add();
    const auto page = std::make_shared<Answer>(std::move(*answer));
    if (page->records.empty()) return taken(*page);
    common_.host.blocking(kind_.client.instance(),
                          [this, common = &common_, kind = &kind_, krane = krane_, strand = strand_,
                           page, alive = std::weak_ptr<bool>(alive_), ticket = ticket_] {
                            make_messages(*common, *kind, krane, *page);
                            strand.post([this, page, alive, ticket] {
                              if (!alive.expired() && !finished_) taken(*page);
                            });
                          });
  }

  void taken(Answer& answer) {
    empty_ = answer.records.empty() && !answer.page.more;
    cursor_ = {answer.page.head.head.incarnation, answer.page.next_version};
    ready_ = std::move(answer.messages);
    next_ = 0;
    go_on();
  }

  void go_on() {
    if (finished_ || writing_) return;
    if (next_ < ready_.size()) {
      writing_ = true;
      return call_.write(ready_[next_++]);
    }
    if (!empty_) return read();
    nap_.after(nap, [this] { read(); });
  }

  void finish(const rpc::End& end) {
    if (!std::exchange(finished_, true)) call_.finish(end);
  }

  Common& common_;
  rpc::Call call_;
  Strand strand_;
  const Classifier::Kind& kind_;
  bool krane_;
  Outstanding::Ticket ticket_;
  Timer nap_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>();
  Topic topic_;
  Cursor cursor_;
  std::vector<Buffer> ready_;
  size_t next_ = 0;  // of ready_
  bool writing_ = false;
  bool empty_ = false;  // the last page was
  bool finished_ = false;
};

class StreamerMirror {
 public:
  using roles = Roles<>;
  static constexpr uint32_t max_concurrency = 1;  // only stop() runs on the pool

  explicit StreamerMirror(Host host)
      : host_(host), classifier_(host), storage_name_(Settings(host).string("storage")) {}

  Result<> wire() {
    auto storage = storage::Client::find(host_, storage_name_);
    if (!storage.ok()) return storage.error();
    if (auto kinds = classifier_.wire(); !kinds.ok()) return kinds;
    common_ = std::make_unique<Common>(
        Common{host_, classifier_, *storage, outstanding_,
               host_.counter("davit_streamer_ring_misses_total", "Pages read from the store.")});
    look_ups_ = std::make_unique<TurnRunner>(host_, outstanding_, streamer::look_up_limits);
    queries_ = std::make_unique<streamer::Queries>(streamer::Queries{
        host_, classifier_, *storage, *look_ups_,
        host_.counter("davit_streamer_storage_errors_total", "Reads of the store that failed.")});
    const rpc::Server server(host_);
    for (const auto& [name, kind] : classifier_.kinds()) {
      if (!kind.client.description().ctrl_v1) continue;
      if (auto r = serve_watch(server, kind); !r.ok()) return r;
      if (auto r = serve_ctrl_get(*queries_, server, kind); !r.ok()) return r;
    }
    return {};
  }

  Result<> start(const Op&) {
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }
  // The host has ended the streams.
  Result<> stop(const Op& op) {
    look_ups_->stop();
    return outstanding_.wait(host_, op);
  }

 private:
  Result<> serve_watch(const rpc::Server& server, const Classifier::Kind& kind) {
    const auto& description = kind.client.description();
    const rpc::Method watch{.path = "ctrl.v1.ClusterService/" + description.ctrl_v1->watch,
                            .request_type = description.ctrl_v1->watch_type,
                            .response_type = description.ctrl_v1->state_type,
                            .descriptor_set = description.descriptor_set,
                            .role = "agent",
                            .server_streams = true};
    return server.serve(watch, [this, server, &kind](rpc::Call call) {
      const Strand strand = host_.strand();
      server.accept(call, strand, std::make_unique<MirrorStream>(*common_, call, strand, kind));
      call.read();
    });
  }

  Host host_;
  Classifier classifier_;
  std::string storage_name_;
  Outstanding outstanding_;
  std::unique_ptr<Common> common_;
  std::unique_ptr<TurnRunner> look_ups_;
  std::unique_ptr<streamer::Queries> queries_;
};

}  // namespace davit::streamer_mirror

DAVIT_PLUGIN(davit::streamer_mirror::StreamerMirror, "streamer_mirror", DAVIT_PLUGIN_VERSION,
             "polls the store for each stream as the original does")
