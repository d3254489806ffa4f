// KindState: everything the hub keeps for one kind: its tables, its watches and its stream. Used on
// the applier's strand.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include "departures.hpp"
#include "observed.hpp"
#include "reconciliation.hpp"
#include "record_table.hpp"
#include "rights.hpp"
#include "status_publisher.hpp"
#include "views.hpp"
#include "watches.hpp"

namespace davit::applier {

// The accepting end of a stream. `inbox` counts changes that were accepted and are not yet taken
// in.
struct ChangeStream : sink::Stream {
  size_t kind = 0;
  sink::Source source;

  // Any thread. False: the inbox is full, and the source has to wait until it is woken.
  bool admit(size_t inbox_max) {
    std::lock_guard lock(mutex_);
    const bool room = inbox_ < inbox_max;
    inbox_ += room ? 1 : 0;
    waiting_ = waiting_ || !room;
    return room;
  }
  // One change is taken in. Wakes a source that waits when half of the inbox is free.
  void taken(size_t inbox_max) {
    bool wake = false;
    {
      std::lock_guard lock(mutex_);
      --inbox_;
      wake = waiting_ && inbox_ <= inbox_max / 2;
      if (wake) waiting_ = false;
    }
    if (wake) source.wake();
  }

 private:
  std::mutex mutex_;
  size_t inbox_ = 0;
  bool waiting_ = false;
};

// Whether the kind owns each resource, by its index.
inline std::vector<bool> owned_of(const std::vector<kind::Resource>& resources) {
  std::vector<bool> out;
  for (const auto& r : resources) out.push_back(r.role == DAVIT_RESOURCE_OWNED);
  return out;
}

struct KindState {
  KindState(Host host, kind::Client c, std::vector<kind::Need> n, Schema s, Strand strand,
            uint64_t index, uint64_t kinds, Sight::Time patience)
      : client(std::move(c)),
        needs(std::move(n)),
        schema(std::move(s)),
        desired(index, kinds),
        observed(client.description().resources.size()),
        departures(owned_of(client.description().resources)),
        views(client.description().resources, patience),
        watches(host, client, std::move(strand)),
        watch_failures(client.description().resources.size(), 0),
        watch_up(client.description().resources.size()) {}

  const kind::Resource& resource(size_t i) const { return client.description().resources[i]; }
  // Whether every watch of the kind can be trusted.
  bool complete() const { return views.complete(); }
  // Which resource the agent is blind for, and why; empty: it is not blind.
  std::string blindness() const {
    const auto blind = views.blind();
    return blind ? name_of(resource(*blind)) + " " + views.of(*blind).reason() : std::string();
  }
  const std::string& name() const { return client.kind(); }
  bool owned(const ObservedObject& o) const {
    return client.description().resources[o.watch].role == DAVIT_RESOURCE_OWNED;
  }
  // Whether an object of another region or kind has the name of one of the record's objects. The
  // pods there then belong to that object, too.
  bool taken_by_others(const RecordEntry& entry) const {
    return std::any_of(entry.objects.begin(), entry.objects.end(),
                       [&](const ObservedObject* o) { return o->foreign && owned(*o); });
  }

  kind::Client client;
  const std::vector<kind::Need> needs;
  Schema schema;
  RecordTable desired;
  Observed observed;
  Departures departures;
  Views views;
  Watches watches;
  bool watching = false;
  Metric orphaned;
  std::vector<uint64_t> watch_failures;  // in a row, by index of the kind's resources
  std::vector<Metric> watch_up;          // by the same
  Missing missing;                       // missing rights, as last reported
  std::map<std::string, Part> absent;    // what the cluster lacks, by name, as last reported
  // For each object that several records share, the entry that has looked at it last.
  std::unordered_map<std::string, uint64_t> sharers;
  std::set<uint64_t> unseen;       // entries that wait until all watches can be trusted
  ChangeStream* stream = nullptr;  // NULL: none is open
  std::shared_ptr<const History> history = std::make_shared<const History>();
  ForeignIncarnations
      foreign_incarnations;  // incarnations that objects name and the history does not
  bool arrived = false;      // objects that no stream names have come since the last judgement
};

}  // namespace davit::applier
