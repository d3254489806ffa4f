// KindState: everything the hub keeps for one kind: its tables, its watches and its stream. Used on
// the applier's strand.
#pragma once

#include <algorithm>
#include <set>

#include "departures.hpp"
#include "desired.hpp"
#include "observed.hpp"
#include "rights.hpp"
#include "sight.hpp"
#include "telling.hpp"
#include "trip.hpp"
#include "watches.hpp"

namespace davit::applier {

// The accepting end of a stream. `inbox` counts changes that were accepted and are not yet taken
// in.
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
  bool trusted = false;   // as of the last look
  uint64_t failures = 0;  // in a row
  std::string told;       // why it is blind, as last reported; empty: not blind
  Metric up;
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
        watches(host, client, std::move(strand)) {
    views.resize(client.description().resources.size(), View(patience));
  }

  const kind::Resource& resource(size_t i) const { return client.description().resources[i]; }
  // Whether every watch of the kind can be trusted.
  bool complete() const {
    for (size_t i = 0; i < views.size(); ++i) {
      if (watched(resource(i)) && !views[i].sight.trusted()) return false;
    }
    return true;
  }
  // Whether the watches of these resources can be trusted. `resources` are indices of the kind's
  // resources.
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
  // Which resource the agent is blind for, and why; empty: it is not blind.
  std::string blindness() const {
    for (size_t i = 0; i < views.size(); ++i) {
      if (views[i].sight.blind()) return name_of(resource(i)) + " " + views[i].sight.reason();
    }
    return {};
  }
  const std::string& name() const { return client.kind(); }
  bool owned(const ObservedObject& o) const {
    return client.description().resources[o.watch].role == DAVIT_RESOURCE_OWNED;
  }
  // Whether an object of another region or kind has the name of one of the record's objects. The
  // pods there then belong to that object, too.
  bool taken_by_others(const Slot& slot) const {
    return std::any_of(slot.objects.begin(), slot.objects.end(),
                       [&](const ObservedObject* o) { return o->foreign && owned(*o); });
  }

  kind::Client client;
  const std::vector<kind::Need> needs;
  Schema schema;
  Desired desired;
  Observed observed;
  Departures departures;
  Watches watches;
  bool watching = false;
  Metric orphaned;
  std::vector<View> views;             // by index of the kind's resources
  bool was_complete = false;           // as of the last look
  Missing missing;                     // missing rights, as last reported
  std::map<std::string, Part> absent;  // what the cluster lacks, by name, as last reported
  std::set<uint64_t> unseen;           // slots that wait until all watches can be trusted
  ChangeStream* stream = nullptr;      // NULL: none is open
  std::shared_ptr<const History> history = std::make_shared<const History>();
  Strangers strangers;   // incarnations that objects name and the history does not
  bool arrived = false;  // objects that no stream names have come since the last judgement
};

}  // namespace davit::applier
