// The plugin `streamer`: reads its settings, wires the parts together and registers the methods.
// README.md lists the settings.
#include "davit_wire_descriptors.h"
#include "frames.hpp"
#include "point_query.hpp"
#include "request.hpp"

namespace davit::streamer {

// Memory for the pages that streams share.
constexpr size_t page_cache_bytes = 2 << 20;

class Streamer {
 public:
  using roles = Roles<DelaysRole>;
  static constexpr uint32_t max_concurrency = 1;  // only stop() runs on the pool

  explicit Streamer(Host host) : host_(host), classifier_(host) {
    const Settings settings(host);
    storage_name_ = settings.string("storage");
    FeedSettings feed;
    feed.poll_interval = settings.milliseconds("poll_interval_ms", feed.poll_interval, 10);
    feed.bookmark_interval =
        settings.milliseconds("bookmark_interval_ms", feed.bookmark_interval, 10);
    feed.ring_bytes = static_cast<size_t>(settings.integer(
        "ring_bytes_max", static_cast<int64_t>(feed.ring_bytes), 1 << 16, int64_t{16} << 30));
    retry_after_ = settings.milliseconds("retry_after_ms", std::chrono::milliseconds(2000));
    regions_ = std::make_unique<Regions>(
        static_cast<size_t>(settings.integer("regions_max", 10'000, 1, 10'000'000)));
    const bool ctrl_bookmarks = settings.boolean("ctrl_bookmarks", false);
    ctrl_.one_on_a_connection = settings.boolean("ctrl_one_on_a_connection", true);
    const bool close_when_drained = settings.boolean("close_when_drained", false);

    davit_.cut.encode = &encode_frame;
    ctrl_.ctrl = true;
    ctrl_.encoding = 1;
    ctrl_.cut = cut(&encode_state);
    ctrl_.traits = {false, ctrl_bookmarks, false, true, close_when_drained};
    krane_ = ctrl_;
    krane_.encoding = 2;
    krane_.cut = cut(&encode_krane_state);
    feed_ = std::make_unique<Feed>(host, classifier_, pages_, feed,
                                   std::vector<Encoding>{davit_.cut, ctrl_.cut, krane_.cut});
  }

  Result<> wire() {
    auto storage = storage::Client::find(host_, storage_name_);
    if (!storage.ok()) return storage.error();
    auto kinds = classifier_.wire();
    if (!kinds.ok()) return kinds;
    const storage::Client shared_reads = storage->under(operations_.begin());
    feed_->wire(shared_reads);
    look_ups_ = std::make_unique<TurnRunner>(host_, feed_->outstanding(), look_up_limits);
    shared_ = std::make_unique<Shared>(Shared{
        host_, classifier_, *feed_, pages_, shared_reads, retry_after_, latest_, *regions_,
        host_.gauge("davit_streamer_streams", "Watches being served."),
        host_.gauge("davit_streamer_messages_waiting",
                    "Messages that streams hold until the one before them is written."),
        host_.counter("davit_streamer_records_sent_total",
                      "Records named to agents, over all streams."),
        host_.counter("davit_streamer_ring_hits_total", "Messages served from memory."),
        host_.counter("davit_streamer_ring_misses_total",
                      "Pages read from the store, by streams that the memory had nothing for."),
        host_.histogram("davit_streamer_propagation_seconds",
                        "From a change's commit until the first stream of this process has it."),
        host_.counter("davit_streamer_storage_reads_total", "Reads of the store."),
        host_.counter("davit_streamer_storage_errors_total", "Reads of the store that failed.")});
    queries_ = std::make_unique<Queries>(
        Queries{host_, classifier_, *storage, *look_ups_, shared_->storage_errors});
    return serve();
  }

  Result<> start(const Op&) {
    host_.health(DAVIT_HEALTH_SERVING);  // before the first read, which may fail
    feed_->start();
    return {};
  }
  Result<> stop(const Op& op) {
    look_ups_->stop();
    return feed_->stop(op, operations_);
  }
  std::vector<Delay> delays() const { return classifier_.delays().all(host_.unix_ms()); }

 private:
  using Encode = Result<std::string> (*)(const Classifier::Kind&, const Change&, Version version);

  // ctrl.v1: one record a message.
  Encoding cut(Encode encode) {
    return {1, 0, false, {}, [this, encode](const Topic& t, const Change& c) {
              return state(t, c, encode);
            }};
  }

  // A record that ctrl.v1 cannot express only moves the peer's cursor.
  Result<Buffer> state(const Topic& topic, const Change& change, Encode encode) {
    const auto* kind = classifier_.kind(topic.kind);
    auto made = encode(*kind, change, change.version);
    if (made.ok()) return Buffer::of(std::move(*made));
    if (retryable(made.error().code)) return made.error().in("kind " + topic.kind);
    classifier_.log_hold(topic.kind + '/' + topic.region + '/' + change.id, change.version,
                         "not sent on ctrl.v1: " + made.error().message);
    return encode_state_bookmark(change.version);
  }

  Result<> serve() {
    const rpc::Server server(host_, operations_);
    rpc::Method watch{.path = "davit.v1.AgentService/Watch",
                      .request_type = "davit.v1.WatchRequest",
                      .response_type = "davit.v1.Frame",
                      .descriptor_set = davit_wire_descriptors(),
                      .role = "agent",
                      .server_streams = true};
    auto served = serve_watch(server, watch, davit_, &parse_watch);
    if (!served.ok()) return served;
    if (served = serve_get(*queries_, server); !served.ok()) return served;
    for (const auto& [name, kind] : classifier_.kinds()) {
      const auto& description = kind.client.description();
      if (!description.ctrl_v1) continue;
      watch.path = "ctrl.v1.ClusterService/" + description.ctrl_v1->watch;
      watch.request_type = description.ctrl_v1->watch_type;
      watch.response_type = description.ctrl_v1->state_type;
      watch.descriptor_set = description.descriptor_set;
      served = serve_watch(server, watch, krane_,
                           [name = name](std::string_view request, const std::string& region) {
                             return parse_ctrl_watch(name, request, region);
                           });
      if (!served.ok()) return served;
      if (served = serve_ctrl_get(*queries_, server, kind); !served.ok()) return served;
    }
    return {};
  }

  Result<> serve_watch(const rpc::Server& server, const rpc::Method& method, const Protocol& spoken,
                       Stream::Parse parse) {
    return server.serve(method, [this, server, &spoken, parse = std::move(parse)](rpc::Call call) {
      const Strand strand = host_.strand();
      const Protocol& protocol = spoken.ctrl && is_davit(call) ? ctrl_ : spoken;
      server.accept(call, strand,
                    std::make_unique<Stream>(*shared_, call, strand, protocol, parse));
      call.read();
    });
  }

  Host host_;
  Classifier classifier_;
  std::string storage_name_;
  std::chrono::milliseconds retry_after_{};
  Protocol davit_, ctrl_, krane_;  // davit.v1; ctrl.v1 for Davit agents; ctrl.v1 for Krane's
  const Operations operations_;    // what stop cancels
  std::unique_ptr<Feed> feed_;
  PageCache pages_{page_cache_bytes};
  Latest latest_;
  std::unique_ptr<Regions> regions_;
  std::unique_ptr<TurnRunner> look_ups_;
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Queries> queries_;
};

}  // namespace davit::streamer

DAVIT_PLUGIN(davit::streamer::Streamer, "streamer", DAVIT_PLUGIN_VERSION,
             "streams desired state to agents and answers their point queries")
