// Serves one watch, of either protocol. It has a Pager for each subscription and carries out what
// the Pagers decide. Everything runs on the call's strand, but pages: they are read on the
// storage's pool and encoded on that of their kind.
//
// A stream has no queue. It holds one message that is being written and one page of the store for
// each subscription. It pulls the next message when the write is done, so a peer that does not read
// costs the others nothing.
#pragma once

#include <list>

#include <davit/backoff.hpp>
#include "feed.hpp"
#include "latest.hpp"
#include "page_cache.hpp"
#include "pager.hpp"
#include "regions.hpp"

namespace davit::streamer {

// What the streams of one protocol have in common. The plugin has three: davit.v1, ctrl.v1 for
// Davit agents and ctrl.v1 for Krane's agents.
struct Protocol {
  bool ctrl = false;
  bool one_on_a_connection = false;  // a newer watch of the same kind and region ends the older
  size_t encoding = 0;               // index into the ring's encodings
  Encoding cut;
  ProtocolTraits traits;
};

// What all streams share. It lives as long as the plugin.
struct Shared {
  Host host;
  Classifier& classifier;
  Feed& feed;
  PageCache& pages;
  storage::Client storage;
  std::chrono::milliseconds retry_after;  // advice to peers when the server shuts down
  Latest& latest;
  Regions& regions;
  Metric streams, waiting, records_sent, ring_hits, ring_misses, propagation, storage_reads,
      storage_errors;
};

class Stream : public rpc::Handler, public Listener {
 public:
  struct Subscription {
    Topic topic;
    Cursor cursor;
  };
  // Reads the subscriptions from the request.
  using Parse = std::function<Result<std::vector<Subscription>>(std::string_view request,
                                                                const std::string& region)>;

  // `shared` and `protocol` outlive the stream.
  Stream(Shared& shared, rpc::Call call, Strand strand, const Protocol& protocol, Parse parse);
  ~Stream() override;

  void on_message(Buffer request) override;
  void on_end_of_messages() override;
  void on_writable() override;
  void on_cancel() override;

 private:
  // One message on the wire: shared records, and perhaps this stream's own bookmark after them.
  struct Message {
    Buffer body, tail;
  };
  // One subscription.
  struct Part {
    Topic topic;
    const Classifier::Kind* kind;
    Pager pager;
    Incarnation came_from{};                   // from where the peer needs the history
    std::shared_ptr<const History> history{};  // the store's history when the snapshot began
    std::list<Message> ready{};                // messages to write; mostly empty
    bool busy = false;                         // a read of the store is in progress
    bool idle = false;                         // waits to be woken
    bool over = false;                         // has failed; the other parts go on
    std::unique_ptr<Timer> nap{};              // while its kind cannot classify a record
    Backoff delay{};                           // of the nap
  };

  void on_woken() override;
  void on_tick() override;
  void on_shutdown() override;
  void on_replaced() override;

  Result<> enter(const std::string& region);
  void replace_older();
  void pump();
  bool step(Part& part);
  void take(Part& part, const Ring::Step& step);
  void read_head(Part& part);
  void read_page(Part& part, const Pager::Todo& todo);
  void begin(Part& part, const Start& start);
  void page_read(size_t index, const PageResult& read);
  void wait_for_kind(Part& part, const std::optional<Error>& delayed);

  // --- one page, for all streams that wait for it (stream_fetch.cpp)
  struct PageJob {
    Shared& shared;
    const Protocol& protocol;
    const Classifier::Kind& kind;
    Pager::Todo todo;
    PageCache::Key key;
    Outstanding::Ticket ticket;
  };
  static void fetch(const PageJob& job);
  static void fetched(const PageJob& job, const PageResult& result);
  static void told(const PageJob& job, const Change& change, const Result<Buffer>& made);
  static PageResult encoded(const PageJob& job, const Page& page, std::vector<Record> records);

  Message bookmark(const Part& part, const Pager::Todo& todo) const;
  void open(Part& part);
  void put(Part& part, Message message);
  void write(const Message& message);
  void fail(Part& part, const Error& error);
  void finish_if_over();
  void finish(const rpc::End& end);
  rpc::End shutdown() const;

  Shared& shared_;
  rpc::Call call_;
  const Protocol& protocol_;
  Parse parse_;
  Outstanding::Ticket ticket_;
  std::shared_ptr<Port> port_;
  std::vector<Topic> topics_;
  std::string place_;    // its key in Latest; empty: none
  std::string entered_;  // the region that it entered in Regions; empty: none
  std::vector<Part> parts_;
  size_t turn_ = 0;
  rpc::End last_;  // how the part ended that failed last
  bool writing_ = false;
  bool finished_ = false;
};

}  // namespace davit::streamer
