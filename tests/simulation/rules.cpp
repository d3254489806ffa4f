// What must hold, the whole time.
#include "world.hpp"

namespace davit::simulation {

// After a stream has gone on with a restored store. An API server may be away as long.
constexpr std::chrono::seconds stamped_within{30};

void World::asked(const cluster::Request& q, const std::string& agent) {
  const Kind* kind = kind_of(q.resource);
  if (kind == nullptr || (q.verb != DAVIT_VERB_APPLY && q.verb != DAVIT_VERB_DELETE)) return;
  Agent& asker = *agent_of("-" + agent);
  const Name name{kind->kind, q.ns, q.name, asker.region};
  note_write(q);
  check_worker(asker);
  check_hold(asker, name);
  if (no_more_troubles_ || !fate_.strikes(q.verb == DAVIT_VERB_DELETE ? 0.2 : 0.02)) return;
  story_.tell("agent " + agent + " dies as it sends " + q.verb + " of " + q.ns + "/" + q.name);
  cut_off(asker);
  if (q.verb != DAVIT_VERB_DELETE || !history_.all().contains(name)) return;
  // It is wanted back, and somebody is quick to carry that out, while the request still hangs
  // somewhere.
  const uint64_t number = std::stoull(q.name.substr(q.name.rfind('-') + 1));
  plan(std::chrono::milliseconds(200 + fate_.below(500)), [=, this, &asker] {
    apply(kind->kind, number, asker.region);
    asker.up_at = now();
  });
}

void World::note_write(const cluster::Request& q) {
  ++writes_;
  last_write_ = q.verb + " of " + q.resource.resource + " " + q.ns + "/" + q.name;
}

// One works: whoever another has followed works no more.
void World::check_worker(const Agent& agent) {
  if (agent.process == worker_ || rivals()) return;
  if (superseded_.contains(agent.process))
    story_.fault("agent " + agent.name + " works although another one has taken over");
  superseded_.insert(std::exchange(worker_, agent.process));
}

// A cursor that has passed the record's newest version says that the agent knows of the hold. An
// earlier version, held or not, is named to nobody who comes after it was replaced.
void World::check_hold(const Agent& agent, const Name& name) {
  const auto written = history_.all().find(name);
  const auto heard = agent.heard.find(name.kind);
  if (written == history_.all().end() || heard == agent.heard.end()) return;
  const Written& last = History::now(written->second);
  if (last.live && last.held && heard->second.version >= last.version)
    story_.fault(display(name) + " is touched by agent " + agent.name + ", which has heard of " +
                 to_string(heard->second.version) + ", and held since " + to_string(last.version));
}

// A request that names another object than the one that stands there, or another state of it, is
// refused.
static bool names_another(const cluster::Request& q, const json::value& object) {
  const bool deletes = q.verb == DAVIT_VERB_DELETE;
  boost::system::error_code none;
  const json::value body = json::parse(q.body, none);
  const json::value* of =
      none ? nullptr : body.find_pointer(deletes ? "/preconditions" : "/metadata", none);
  if (of == nullptr) return false;
  const auto differs = [&](const char* member) {
    const json::value* wanted = of->get_object().if_contains(member);
    return wanted != nullptr && *wanted != object.at("metadata").at(member);
  };
  return differs("uid") || differs("resourceVersion");
}

void World::before(const cluster::Request& q, const std::string& text,
                   const ShakyCluster::Asking& by) {
  if (kind_of(q.resource) == nullptr) return;
  const json::value object = json::parse(text);
  const bool changes = q.verb == DAVIT_VERB_DELETE || q.verb == DAVIT_VERB_APPLY;
  if (object.is_null() || (changes && names_another(q, object))) return;
  const Stamp there = stamp_of(object);
  if (changes && there && there.region != agent_of("-" + by.agent)->region)
    return story_.fault(q.verb + " of another region's object " + q.ns + "/" + q.name);
  if (q.verb == DAVIT_VERB_DELETE) before_delete(q, there, by);
  if (q.verb == DAVIT_VERB_APPLY) before_apply(stamp_of(json::parse(q.body)), there, by);
}

// Until it has heard of a restored store an agent goes by the one before.
bool World::knows_this_store(const ShakyCluster::Asking& by, const std::string& kind) {
  const auto& heard = agent_of("-" + by.agent)->heard;
  const auto it = heard.find(kind);
  return it != heard.end() && by.at > it->second.since;
}

// Nobody takes an object back, unless the store has lost what it was made of: what is asked for
// names the state of the object that it was judged by, so that it is refused if it comes late.
void World::before_apply(const Stamp& wanted, const Stamp& there, const ShakyCluster::Asking& by) {
  const Written* written = history_.find(wanted.name, wanted.id, wanted.made_of);
  if (written != nullptr && written->held)
    story_.fault(display(wanted.name) + " @" + to_string(wanted.made_of.version) +
                 " is applied, and is held");
  const bool same_record = wanted.id == there.id || rivals();
  if (!same_record || wanted.made_of.version >= there.made_of.version) return;
  const auto lost_by = [&](const History& history) {
    return history.find(there.name, there.id, there.made_of) == nullptr;
  };
  if (lost_by(history_)) return;
  if (!knows_this_store(by, wanted.name.kind) &&
      std::any_of(lost_.begin(), lost_.end(), [&](const Past& p) { return lost_by(p.history); }))
    return;
  story_.fault(display(there.name) + " @" + to_string(there.made_of.version) +
               " is taken back to @" + to_string(wanted.made_of.version));
}

void World::before_delete(const cluster::Request& q, const Stamp& there,
                          const ShakyCluster::Asking& by) {
  if (!there) return story_.fault("a stranger's object is deleted: " + q.ns + "/" + q.name);
  const std::string what = display(there.name) + " @" + to_string(there.made_of.version);
  story_.tell("agent " + by.agent + " deletes " + what);
  Agent& agent = *agent_of("-" + by.agent);
  if (!by.late) check_share(agent, there.name);
  if (may_go(there, lost_.size())) return;
  for (size_t past = 0; past < lost_.size() && !knows_this_store(by, there.name.kind); ++past) {
    if (may_go(there, past)) return;
  }
  story_.fault(what + " is deleted, and was never dead since");
}

// What was dead before any of its snapshots could begin an agent can only prune. Of the records
// that it may have counted then no more than the share goes, but for those whose tombstones the
// store has to show.
void World::check_share(Agent& agent, const Name& name) {
  if (scene_ != Scene::plain && scene_ != Scene::pair) return;
  uint64_t all = 0, pruned = 0;
  for (const auto& [other, written] : history_.all()) {
    if (other.kind != name.kind) continue;
    const bool long_dead = written.back().version <= agent.long_dead && !History::now(written).live;
    const bool shown = agent.tombstones.contains(other) || has_tombstone(other, written);
    if (other == name && long_dead && !shown) agent.pruned.insert(name);
    pruned += agent.pruned.contains(other) ? 1 : 0;
    ++all;
  }
  if (pruned > prune_always_allowed && pruned * 100 > all * prune_share_max_percent)
    story_.fault(std::to_string(pruned) + " of " + std::to_string(all) + " records of " +
                 name.kind + " are pruned at once");
}

// Whether the store that is up still knows of a record that is dead.
bool World::has_tombstone(const Name& name, const std::vector<Written>& written) {
  const Written& last = History::now(written);
  if (!server_.up || last.live) return false;
  bool found = false;
  const auto read =
      storage_.inner().get({{name.kind, name.region, last.id}, {}, {}}, [&](const davit_record&) {
        found = true;
        return true;
      });
  return read.ok() && found;
}

// Whether by this history the object may go: its record has died since; or the history does not
// know of it, and has another record of its name, or one that was written since it was lost.
bool World::may_go(const Stamp& there, size_t store) const {
  const History& history = store < lost_.size() ? lost_[store].history : history_;
  if (history.find(there.name, there.id, there.made_of) != nullptr)
    return history.died_after(there.name, there.id, there.made_of.version);
  const auto written = history.all().find(there.name);
  if (written == history.all().end()) return false;
  const Written& last = History::now(written->second);
  return (last.live && last.id != there.id) ||
         written->second.back().version > head_without(there, store);
}

// The least head that a store was restored to since the one that had this version: what is written
// above it was written after the version was lost.
Version World::head_without(const Stamp& there, size_t store) const {
  Version head = Version::max();
  for (size_t later = store;; --later) {
    head = std::min(head, later < lost_.size() ? lost_[later].restored_head : restored_head_);
    if (later == 0 || lost_[later - 1].history.find(there.name, there.id, there.made_of) != nullptr)
      return head;
  }
}

void World::after(const cluster::Request& q, const cluster::Response& r) {
  if (q.resource.resource == "leases" && r.code == Code::ok) check_lease(json::parse(r.body));
  if (q.verb != DAVIT_VERB_APPLY || kind_of(q.resource) == nullptr || r.code != Code::ok) return;
  const Stamp stamp = stamp_of(json::parse(q.body));
  if (!stamp) return;
  story_.tell("apply of " + display(stamp.name) + " @" + to_string(stamp.made_of.version));
  applied_[stamp.name].insert({stamp.id, stamp.made_of});
}

// Whoever leads later has a higher epoch, whatever its clock says.
void World::check_lease(const json::value& lease) {
  const Epoch epoch(number_at(lease, "/metadata/annotations/davit.dev~1epoch"));
  if (epoch < lease_epoch_)
    story_.fault("the epoch of the Lease is " + to_string(epoch) + " after " +
                 to_string(lease_epoch_));
  lease_epoch_ = epoch;
}

// Whether what a lost store had written is in the store that stands in its place: it is older than
// the backup. Who has not heard of the restored store yet may still apply it.
bool World::survived(const Stamp& stamp) const {
  const auto mine = history_.all().find(stamp.name);
  if (mine == history_.all().end()) return false;
  return std::any_of(lost_.begin(), lost_.end(), [&](const Past& past) {
    const Written* lost = past.history.find(stamp.name, stamp.id, stamp.made_of);
    return lost != nullptr && std::count(mine->second.begin(), mine->second.end(), *lost) > 0;
  });
}

void World::heard(const Progress& p) {
  Agent* agent = agent_of("-" + p.agent);
  if (agent == nullptr) return;  // of ctrl.v1: it says nothing but that it lives
  ++words_;
  agent->issues = p.issues;
  for (const auto& kind : p.kinds) {
    // One of before a restore may be known, and say that its agent has not heard of that.
    if (!history_.has(kind.applied) || before_restore_.contains(kind.applied.incarnation)) continue;
    auto& known = agent->heard[kind.kind];
    if (known.since.count() == 0) known.since = now();
    known.version = kind.applied.version;
    known.incarnation = kind.applied.incarnation;
    check_cursor(kind, agent->region, now() - known.since >= stamped_within);
  }
}

// A cursor says that everything up to it was applied, or is held. A stream that goes on after a
// restore names nothing again, so the stamps follow later: `stamped` says that they must have.
void World::check_cursor(const KindProgress& kind, const std::string& where, bool stamped) {
  for (const auto& [name, written] : history_.all()) {
    if (name.kind != kind.kind || name.region != where) continue;
    // Parked, perhaps: another region has it, or had it then.
    if (name.name == contested_name().name || history_.all().contains(of_other_region(name)))
      continue;
    const Written& last = History::now(written);
    if (!last.live || last.held || last.version > kind.applied.version) continue;
    if (stamped) named_.insert({name, last.id});
    const auto& applied = applied_[name];
    const bool taken =
        std::any_of(applied.begin(), applied.end(), [&, &name = name](const auto& a) {
          const Stamp stamp{name, a.first, where, a.second};
          return a.second.version >= last.version &&
                 (history_.find(name, a.first, a.second) != nullptr || survived(stamp));
        });
    if (!taken) {
      story_.fault("the cursor of " + name.kind + " is at " + to_string(kind.applied.version) +
                   ", and " + display(name) + " @" + to_string(last.version) +
                   " was never applied");
    }
  }
}

// What is purged has no status any more; another record of its id begins anew.
void World::purged() {
  std::set<Key> left;
  const auto read = storage_.inner().statuses({{}, {}, 1000}, [&](const davit_status& s) {
    left.insert(from_abi(s.key));
    return true;
  });
  if (read.ok()) std::erase_if(stored_, [&](const auto& s) { return !left.contains(s.first); });
}

// A later report, or one of a later epoch, is never overwritten.
void World::stored(const Status& s, bool now) {
  auto& last = stored_[s.key];
  const std::pair number{s.epoch, s.sequence};
  if (number < last) {
    story_.fault("the status of " + s.key.kind + " " + s.key.id +
                 " is an older one: " + to_string(s.epoch) + "/" + std::to_string(s.sequence) +
                 " after " + to_string(last.first) + "/" + std::to_string(last.second));
  }
  last = number;
  // What a restored store has of earlier nobody says now.
  if (now && s.ready == 0 && s.desired > 0 && !s.gone)
    said_none_ready_.emplace_back(s.key, s.health + ": " + s.message);
  const Cursor read_at{s.observed_incarnation, s.observed_version};
  if (!s.gone && !history_.has(read_at)) {
    story_.fault("the status of " + s.key.kind + " " + s.key.id + " speaks of " +
                 to_string(read_at.version) + " of another history");
  }
  const auto read = storage_.inner().get({s.key, {}, {}}, [&](const davit_record& r) {
    if (s.observed_version > Version(r.version) && !s.gone) {
      story_.fault("the status of " + s.key.kind + " " + s.key.id + " speaks of " +
                   to_string(s.observed_version) + ", which this store has lost: it has " +
                   std::to_string(r.version));
    }
    return true;
  });
  if (!read.ok()) story_.fault("the store cannot be read: " + read.error().message);
}

}  // namespace davit::simulation
