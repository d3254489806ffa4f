// Hub: the applier's one strand, where changes, watch events and finished reconciliations meet. The
// hub keeps the tables, asks which record is next and starts a reconciliation for it. The pure
// classes and functions decide (RecordTable, Observed, Departures, Views, Workers, Parking,
// Repairs, ForeignIncarnations, publication), and the hub carries out what they answer.
#pragma once

#include "access_review.hpp"
#include "events.hpp"
#include "kind_state.hpp"
#include "status_publisher.hpp"
#include "workers.hpp"

namespace davit::applier {

class Hub {
 public:
  Hub(Host host, Rules rules, cluster::Client cluster, std::optional<secrets::Client> secrets,
      std::optional<sink::StatusClient> status);
  // Called during wire.
  Result<> add_kinds(const std::vector<kind::Client>& kinds, const kind::Needs& needs);
  // The rights that the kinds need, as the YAML of a ClusterRole that grants them.
  std::string cluster_role() const { return review_.cluster_role(); }
  // For `davit check`. Blocks the calling thread until `deadline` at most.
  Result<> check_access(std::chrono::nanoseconds deadline) const { return review_.check(deadline); }
  void start();
  // All streams must be closed before. `done` is called once, on the strand; nothing runs after it.
  void stop(std::function<void()> done);

  // The change sink; any thread.
  Result<sink::Stream*> open(const std::string& kind, const std::string& region,
                             sink::Source source);
  void begin(sink::Stream* stream, const sink::Begin& begin);
  bool offer(sink::Stream* stream, sink::Change change);
  void bookmark(sink::Stream* stream, const sink::Bookmark& bookmark);
  void close(sink::Stream* stream);

 private:
  std::vector<kind::Need> needs_of(const std::string& kind, const kind::Needs& needs) const;

  // --- streams (hub.cpp)
  void on_open(ChangeStream* stream);
  void on_begin(KindState& kind, const sink::Begin& begin);
  void on_change(ChangeStream* stream, sink::Change change);
  void on_bookmark(KindState& kind, const sink::Bookmark& bookmark);
  void on_word(KindState& kind);
  void on_close(ChangeStream* stream);
  void settle(KindState& kind, RecordEntry& entry, sink::Outcome outcome);

  // --- work (hub_work.cpp)
  void pump();
  void launch(KindState& kind, RecordEntry& entry);
  void on_report(size_t under_way, Report report);
  void conclude(KindState& kind, RecordEntry& entry, Report& report);
  void conclude_current(KindState& kind, RecordEntry& entry, Report& report);
  std::chrono::nanoseconds rest_after(const KindState& kind, RecordEntry& entry,
                                      const Report& report);
  void take_over(KindState& kind, RecordEntry& entry, const Report& report);
  void publish(KindState& kind, RecordEntry& entry, const Report& report);
  void count_parked(const RecordEntry& entry);
  void resync();
  void check_stopped();

  // --- watch events, pruning and records that are gone (hub_observe.cpp)
  void on_arrival(KindState& kind, const Arrival& arrival);
  void on_object(KindState& kind, const Arrival& arrival);
  void on_trouble(KindState& kind, const Arrival& arrival);
  void touch(KindState& kind, RecordEntry& entry);
  void touch_sharer(KindState& kind, const std::string& path);
  void works_again(KindState& kind, uint32_t watch);
  void release_unseen(KindState& kind);
  void judge(KindState& kind);
  void judged(KindState& kind, const Departures::Judgement& found);
  void judge_soon(KindState& kind);
  void carry_out(KindState& kind, const Departures::Judgement& found);
  void confirm_gone(KindState& kind);
  void report_gone(KindState& kind, const std::vector<GoneRecord>& records);
  static void count_orphans(KindState& kind);
  void erase(KindState& kind, RecordEntry& entry);
  void depart(KindState& kind, RecordEntry& entry);

  // --- what the agent does not see (hub_sight.cpp)
  void look(KindState& kind);
  void tell_blindness(KindState& kind, const Views::News::Blindness& news);
  void sees_again(KindState& kind, bool all);
  void say_delayed(KindState& kind, RecordEntry& entry);
  void expire_sights();
  void plan_sights();
  void show_health();

  KindState& kind_of(uint64_t number) { return *kinds_[number % kinds_.size()]; }
  std::chrono::nanoseconds now() const { return host_.now(); }
  Sight::Moment moment() const { return {now(), host_.unix_ms()}; }

  Host host_;
  const Operation requests_;  // all of them; stop cancels it
  std::shared_ptr<ReconcileContext> context_;
  const std::optional<sink::StatusClient> status_;
  Strand strand_;
  std::vector<std::unique_ptr<KindState>> kinds_;
  std::vector<std::unique_ptr<ChangeStream>> streams_;
  Workers workers_;     // by the numbers of the entries
  size_t working_ = 0;  // reconciliations that are out
  AccessReview review_;
  Events events_;
  Timer pump_timer_, resync_timer_, sync_timer_, sight_timer_, arrival_timer_;
  std::chrono::nanoseconds pump_at_{0};        // when pump_timer_ fires
  std::chrono::nanoseconds patient_until_{0};  // until then applying waits for the watches

  std::mutex open_mutex_;  // guards streams_, region_ and the creation of publisher_
  std::string region_;
  std::optional<StatusPublisher> publisher_;

  bool stopping_ = false;
  size_t watching_ = 0;  // kinds whose watches are running
  std::string health_;   // the detail last reported; empty: serving
  std::function<void()> stopped_;

  std::set<uint64_t> parked_;  // entries, by their numbers
  Metric waiting_, concurrency_, parked_gauge_, reconciliations_, retries_, throttled_;
};

}  // namespace davit::applier
