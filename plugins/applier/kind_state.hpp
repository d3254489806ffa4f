// KindState: all the applier has for one kind: its tables, its watches, its stream. On the
// applier's strand.
#pragma once

#include <algorithm>
#include <deque>
#include <set>

#include "desired.hpp"
#include "observed.hpp"
#include "prune.hpp"
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

struct KindState {
  KindState(kind::Client c, Schema s, Strand strand, uint64_t index, uint64_t kinds)
      : client(std::move(c)),
        schema(std::move(s)),
        desired(index, kinds),
        observed(client.description().resources.size()),
        watches(client, std::move(strand)) {
    for (const auto& r : client.description().resources) {
      coverage.push_back(watched(r) ? Coverage::begun : Coverage::none);
      trouble.push_back(0);
    }
  }

  // Everything that is watched has been shown.
  bool complete() const {
    for (const Coverage c : coverage) {
      if (c == Coverage::begun) return false;
    }
    return true;
  }
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
  Schema schema;
  Desired desired;
  Observed observed;
  Watches watches;
  bool watching = false;
  std::vector<Coverage> coverage;  // by index of the kind's resources
  std::vector<uint64_t> trouble;   // failures in a row, by the same
  std::set<uint64_t> unseen;       // slots that wait for the watches to be complete
  ChangeStream* stream = nullptr;  // NULL: none is open
  std::shared_ptr<const History> history = std::make_shared<const History>();
  uint64_t snapshot_began = 0;        // at this version of the store; 0: no snapshot, or unknown
  std::vector<Lingering> lingering;   // named by the snapshot
  Tombstones tombstones;              // the same, as proofs for as long as it is the last snapshot
  std::deque<Lingering> departed;     // said gone of since that began, the last of them
  std::optional<SnapshotEnd> ended;   // a snapshot has ended and is to be judged
  std::optional<SnapshotEnd> judged;  // it has been, and what has been heard since
};

}  // namespace davit::applier
