#include "hub.hpp"

namespace davit::applier {

Hub::Hub(Host host, Rules rules, cluster::Client cluster, std::optional<secrets::Client> secrets,
         std::optional<sink::StatusClient> status)
    : host_(host),
      context_(std::make_shared<ReconcileContext>(host, cluster.under(requests_),
                                                  std::move(secrets), rules)),
      status_(std::move(status)),
      strand_(host.strand()),
      workers_(rules.concurrency_max, rules.slow_after),
      review_(host, *context_, strand_, kinds_, [this] { check_stopped(); }),
      events_(
          host, *context_, strand_, [this] { review_.soon(); }, [this] { check_stopped(); }),
      pump_timer_(strand_),
      resync_timer_(strand_),
      sync_timer_(strand_),
      sight_timer_(strand_),
      arrival_timer_(strand_) {
  context_->applies = host.counter("davit_applier_applies_total", "Server-side applies sent");
  context_->skips = host.counter("davit_applier_skips_total", "Objects found as they should be");
  context_->deletes = host.counter("davit_applier_deletes_total", "Deletes sent");
  context_->repairs = host.counter("davit_applier_repairs_total",
                                   "Objects changed behind our back and applied again");
  reconciliations_ =
      host.counter("davit_applier_reconciliations_total", "Reconciliations of a record begun");
  retries_ = host.counter("davit_applier_retries_total",
                          "Reconciliations that failed and are tried again");
  throttled_ = host.counter("davit_applier_throttled_total",
                            "Requests refused because of overload, or not answered");
  concurrency_ = host.gauge("davit_applier_concurrency", "Records that may be worked on at once");
  concurrency_.set(static_cast<double>(workers_.limit()));
  waiting_ = host.gauge("davit_applier_waiting", "Keys that wait for a worker or for their time");
  parked_gauge_ =
      host.gauge("davit_applier_parked", "Records that can never be applied as they are");
}

// What the kind says, and what the applier itself needs for the objects of every kind. Each setting
// says whose it is.
std::vector<kind::Need> Hub::needs_of(const std::string& kind, const kind::Needs& needs) const {
  std::vector<kind::Need> out;
  if (const auto said = needs.find(kind); said != needs.end()) out = said->second;
  for (kind::Need& need : out) {
    if (!need.setting.empty()) need.setting += " for this kind";
  }
  if (context_->rules.events_per_minute > 0) {
    out.push_back(
        {"", "v1", "events", {}, {"create", "patch"}, "events_per_minute = 0 for the applier"});
  }
  return out;
}

Result<> Hub::add_kinds(const std::vector<kind::Client>& kinds, const kind::Needs& needs) {
  for (size_t i = 0; i < kinds.size(); ++i) {
    auto schema = kinds[i].schema(host_);
    if (!schema.ok()) return schema.error().in("kind \"" + kinds[i].kind() + "\"");
    kinds_.push_back(std::make_unique<KindState>(host_, kinds[i], needs_of(kinds[i].kind(), needs),
                                                 *schema, strand_, i, kinds.size(),
                                                 context_->rules.blind_after));
    KindState& kind = *kinds_.back();
    kind.orphaned = host_.gauge("davit_applier_orphaned",
                                "Records that nobody names and whose objects are left alone",
                                {{"kind", kind.name()}});
    for (size_t r = 0; r < kind.watch_up.size(); ++r) {
      if (!watched(kind.resource(r))) continue;
      kind.watch_up[r] =
          host_.gauge("davit_applier_watch_up", "1 while what a watch has shown can be relied on",
                      {{"kind", kind.name()}, {"resource", name_of(kind.resource(r))}});
      kind.watch_up[r].set(0);
    }
  }
  return {};
}

void Hub::start() {
  host_.health(DAVIT_HEALTH_SERVING);
  strand_.post([this] {
    patient_until_ = now() + context_->rules.sync_wait;
    sync_timer_.after(context_->rules.sync_wait, [this] {
      for (auto& kind : kinds_) release_unseen(*kind);
      pump();
    });
    resync_timer_.after(context_->rules.resync_interval, [this] { resync(); });
  });
}

void Hub::stop(std::function<void()> done) {
  strand_.post([this, done = std::move(done)]() mutable {
    stopping_ = true;
    stopped_ = std::move(done);
    // An object that was being written is looked at first when the agent starts again.
    requests_.cancel();
    context_->resolving.cancel();
    review_.stop();
    events_.stop();
    for (Timer* t : {&pump_timer_, &resync_timer_, &sync_timer_, &sight_timer_, &arrival_timer_})
      t->cancel();
    for (auto& kind : kinds_) {
      if (!kind->watching) continue;
      kind->watches.stop([this] {
        --watching_;
        check_stopped();
      });
    }
    check_stopped();
  });
}

void Hub::check_stopped() {
  if (!stopped_ || watching_ > 0 || review_.under_way() || events_.under_way() || working_ > 0)
    return;
  auto stopped = std::move(stopped_);
  stopped_ = nullptr;
  stopped();
}

// --- streams

Result<sink::Stream*> Hub::open(const std::string& kind, const std::string& region,
                                sink::Source source) {
  std::lock_guard lock(open_mutex_);
  if (!region_.empty() && region_ != region) {
    return Error{Code::failed_precondition,
                 "this applier works for region \"" + region_ + "\", not for \"" + region + "\""};
  }
  size_t index = 0;
  while (index < kinds_.size() && kinds_[index]->name() != kind) ++index;
  if (index == kinds_.size())
    return Error{Code::not_found, "there is no kind \"" + kind + "\" here"};
  for (const auto& s : streams_) {
    if (s->kind == index)
      return Error{Code::already_exists, "kind \"" + kind + "\" has a stream already"};
  }
  auto stream = std::make_unique<ChangeStream>();
  stream->kind = index;
  stream->source = std::move(source);
  ChangeStream* out = stream.get();
  streams_.push_back(std::move(stream));
  if (region_.empty()) region_ = region;  // written once: the strand reads it without a lock
  strand_.post([this, out] { on_open(out); });
  return static_cast<sink::Stream*>(out);
}

void Hub::on_open(ChangeStream* stream) {
  KindState& kind = *kinds_[stream->kind];
  kind.stream = stream;
  if (!publisher_) {
    std::lock_guard lock(open_mutex_);
    publisher_.emplace(host_, status_, region_);
  }
  if (kind.watching || stopping_) return;
  kind.watching = true;
  ++watching_;
  kind.views.begin(moment());
  plan_sights();
  review_.start(*publisher_);
  kind.watches.start(context_->cluster, context_->rules, label_value(region_),
                     [this, &kind](const Arrival& a) {
                       on_arrival(kind, a);
                       pump();
                     });
}

void Hub::begin(sink::Stream* stream, const sink::Begin& begin) {
  auto* s = static_cast<ChangeStream*>(stream);
  strand_.post([this, s, begin] { on_begin(*kinds_[s->kind], begin); });
}

void Hub::on_begin(KindState& kind, const sink::Begin& begin) {
  // The store may be another one, or an older one, so every status is sent once more.
  const bool other = kind.desired.begin(begin.snapshot, begin.at.incarnation);
  if (other) kind.foreign_incarnations.forget();
  on_word(kind);
  if (begin.snapshot || other)
    kind.desired.each([](RecordEntry& entry) { entry.status_offered = 0; });
  kind.history = std::make_shared<const History>(
      begin.snapshot ? begin.history : continued(*kind.history, begin.history, begin.at));
  kind.departures.begin(begin, other);
  if (begin.snapshot || !other) return;
  for (const GoneRecord& record : kind.departures.to_report_again(kind.desired))
    publisher_->gone(kind.name(), record);
}

// The peer has confirmed the incarnation that it has named.
void Hub::on_word(KindState& kind) {
  if (!kind.foreign_incarnations.confirmed(now())) return;
  kind.desired.each([this](RecordEntry& entry) {
    if (std::exchange(entry.unplaced, {})) workers_.add(entry.number, Priority::change, now());
  });
}

bool Hub::offer(sink::Stream* stream, sink::Change change) {
  auto* s = static_cast<ChangeStream*>(stream);
  if (!s->admit(context_->rules.inbox_max)) return false;
  strand_.post([this, s, change = std::move(change)]() mutable {
    on_change(s, std::move(change));
    s->taken(context_->rules.inbox_max);
    pump();
  });
  return true;
}

void Hub::on_change(ChangeStream* stream, sink::Change change) {
  KindState& kind = *kinds_[stream->kind];
  if (kind.departures.keep(change, kind.desired)) {
    // Those of a snapshot are confirmed when the snapshot is judged.
    if (kind.departures.judged() && kind.complete()) confirm_gone(kind);
    return stream->source.settled(change.version, sink::Outcome::done);
  }
  kind.departures.reach({kind.desired.incarnation(), change.version});
  const auto accepted = kind.desired.accept(change);
  for (const Version version : accepted.superseded)
    stream->source.settled(version, sink::Outcome::done);
  if (accepted.outcome) stream->source.settled(change.version, *accepted.outcome);
  if (accepted.entry == nullptr) return;
  workers_.add(accepted.entry->number, accepted.work ? Priority::change : Priority::resync, now());
}

void Hub::bookmark(sink::Stream* stream, const sink::Bookmark& bookmark) {
  auto* s = static_cast<ChangeStream*>(stream);
  strand_.post([this, s, bookmark] {
    on_bookmark(*kinds_[s->kind], bookmark);
    pump();
  });
}

void Hub::on_bookmark(KindState& kind, const sink::Bookmark& bookmark) {
  kind.departures.reach(bookmark.at);
  if (bookmark.at.incarnation == kind.desired.incarnation()) on_word(kind);
  if (!bookmark.snapshot_end && !bookmark.quiet) return;
  kind.departures.end(bookmark, *kind.history, kind.desired.counted());
  if (kind.complete()) judge(kind);
}

void Hub::close(sink::Stream* stream) {
  auto* s = static_cast<ChangeStream*>(stream);
  strand_.post([this, s] { on_close(s); });
}

void Hub::on_close(ChangeStream* stream) {
  KindState& kind = *kinds_[stream->kind];
  kind.departures.close();
  kind.desired.each([&](RecordEntry& entry) {
    for (const Version version : entry.outstanding)
      stream->source.settled(version, sink::Outcome::abandoned);
    entry.outstanding.clear();
  });
  kind.stream = nullptr;
  const auto closed = stream->source.closed;
  {
    std::lock_guard lock(open_mutex_);
    std::erase_if(streams_, [stream](const auto& s) { return s.get() == stream; });
  }
  closed();
}

void Hub::settle(KindState& kind, RecordEntry& entry, sink::Outcome outcome) {
  std::vector<Version> versions;
  versions.swap(entry.outstanding);
  for (const Version version : versions) {
    if (kind.stream != nullptr) kind.stream->source.settled(version, outcome);
  }
}

}  // namespace davit::applier
