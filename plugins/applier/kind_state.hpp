// KindState: all the applier has for one kind: its tables, its watches, its stream. On the
// applier's strand.
#pragma once

#include <algorithm>
#include <deque>
#include <set>

#include "desired.hpp"
#include "observed.hpp"
#include "prune.hpp"
#include "rights.hpp"
#include "sight.hpp"
#include "telling.hpp"
#include "trip.hpp"
#include "watches.hpp"

namespace davit::applier {

// The accepting end of a stream. `inbox` counts changes that were accepted and not yet worked in.
struct ChangeStream : sink::Stream {
  size_t kind = 0;
  sink::Source source;
  std::mutex mutex;
  size_t inbox = 0;
  bool waiting = false;  // the source was told to wait
};

// One resource of a kind, as its watch shows it.
struct View {
  explicit View(Sight::Time patience) : sight(patience) {}
  Sight sight;
  bool trusted = false;   // as it was looked at last
  uint64_t failures = 0;  // in a row
  std::string told;       // why it is blind, as it was told last; empty: it is not
  Metric up;
};

struct KindState {
  KindState(kind::Client c, std::vector<kind::Need> n, Schema s, Strand strand, uint64_t index,
            uint64_t kinds, Sight::Time patience)
      : client(std::move(c)),
        needs(std::move(n)),
        schema(std::move(s)),
        desired(index, kinds),
        observed(client.description().resources.size()),
        watches(client, std::move(strand)) {
    views.resize(client.description().resources.size(), View(patience));
  }

  const kind::Resource& resource(size_t i) const { return client.description().resources[i]; }
  // Everything that is watched is seen.
  bool complete() const {
    for (size_t i = 0; i < views.size(); ++i) {
      if (watched(resource(i)) && !views[i].sight.trusted()) return false;
    }
    return true;
  }
  // All of these are seen; indices of the kind's resources.
  bool sees(const std::vector<uint32_t>& resources) const {
    return std::all_of(resources.begin(), resources.end(),
                       [this](uint32_t i) { return views[i].sight.trusted(); });
  }
  std::vector<Coverage> coverage() const {
    std::vector<Coverage> out;
    for (size_t i = 0; i < views.size(); ++i) {
      out.push_back(!watched(resource(i))      ? Coverage::none
                    : views[i].sight.trusted() ? Coverage::complete
                                               : Coverage::begun);
    }
    return out;
  }
  // What it does not see and why; empty: it is not blind.
  std::string blindness() const {
    for (size_t i = 0; i < views.size(); ++i) {
      if (views[i].sight.blind()) return name_of(resource(i)) + " " + views[i].sight.reason();
    }
    return {};
  }
  // A record that the last snapshot did not name is dead as of this version; 0: of none it is
  // known.
  uint64_t proven_through() const { return judged ? snapshot_began : 0; }
  const std::string& name() const { return client.kind(); }
  bool owned(const ObservedObject& o) const {
    return client.description().resources[o.watch].role == DAVIT_RESOURCE_OWNED;
  }
  // Another region's or kind's object stands where one of the record's would: the pods there are
  // that one's, too.
  bool taken_by_others(const Slot& slot) const {
    return std::any_of(slot.objects.begin(), slot.objects.end(),
                       [&](const ObservedObject* o) { return o->foreign && owned(*o); });
  }

  kind::Client client;
  const std::vector<kind::Need> needs;
  Schema schema;
  Desired desired;
  Observed observed;
  Watches watches;
  bool watching = false;
  Metric orphaned;
  std::vector<View> views;             // by index of the kind's resources
  bool was_complete = false;           // as it was looked at last
  Missing missing;                     // rights, as they were told last
  std::map<std::string, Part> absent;  // what the cluster lacks, by its name, as it was told last
  std::set<uint64_t> unseen;           // slots that wait for the watches to be complete
  ChangeStream* stream = nullptr;      // NULL: none is open
  std::shared_ptr<const History> history = std::make_shared<const History>();
  Strangers strangers;                // that objects name and the history does not
  uint64_t snapshot_began = 0;        // at this version of the store; 0: no snapshot, or unknown
  std::vector<Lingering> lingering;   // dead, as the stream says; to be looked at
  Tombstones tombstones;              // the same, as proofs for as long as it is the last snapshot
  std::deque<Lingering> departed;     // said gone of since that began, the last of them
  std::optional<SnapshotEnd> ended;   // a snapshot has ended and is to be judged
  std::optional<SnapshotEnd> judged;  // it has been, and what has been heard since
};

}  // namespace davit::applier
