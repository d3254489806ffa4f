// Views: what the watches of one kind show can be relied on or not. It has a Sight for each watched
// resource, and says which statuses, deletes and prunings may go on. Pure; used on the applier's
// strand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <davit/kind.hpp>

#include "sight.hpp"

namespace davit::applier {

// What a watch says about objects that it has not shown. `none`: nothing, there is no watch.
// `begun`: nothing, the watch cannot be trusted. `complete`: they are absent.
enum class Coverage : uint8_t { none, begun, complete };

// Whether a kind's resource is watched.
inline bool watched(const kind::Resource& r) {
  return !r.selector.empty();
}

class Views {
 public:
  // What has changed since the last look; indices of the kind's resources.
  struct News {
    struct Blindness {
      size_t resource;
      bool began;  // false: it has ended, or its reason has changed
    };
    std::vector<Blindness> blindness;
    std::vector<size_t> trust;  // it can be trusted now, or cannot any more
    bool gained = false;        // one can be trusted now
    bool all = false;           // all can be trusted now, and at the last look they could not
  };

  Views(const std::vector<kind::Resource>& resources, Sight::Time patience);

  // The watches are opened.
  void begin(Sight::Moment now);
  Sight& of(size_t resource) { return views_[resource].sight; }
  const Sight& of(size_t resource) const { return views_[resource].sight; }
  void expire(Sight::Time now);
  News look();
  // When expire may change something; nullopt: not before an event does.
  std::optional<Sight::Time> due() const;

  bool trusted(size_t resource) const { return views_[resource].sight.trusted(); }
  // Whether every watch can be trusted.
  bool complete() const;
  // Whether the watches of these resources can be trusted.
  bool sees(const std::vector<uint32_t>& resources) const;
  std::vector<Coverage> coverage() const;
  // The first resource that the agent is blind for; nullopt: it is not blind.
  std::optional<size_t> blind() const;
  // Why the agent is blind for the resource, as of the last look; empty: it is not.
  const std::string& reason(size_t resource) const { return views_[resource].reason; }

 private:
  struct View {
    Sight sight;
    bool watched;
    bool trusted = false;  // as of the last look
    std::string reason;    // as of the last look
  };
  std::vector<View> views_;    // by index of the kind's resources
  bool was_complete_ = false;  // as of the last look
};

}  // namespace davit::applier
