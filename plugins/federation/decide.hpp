// decide: what is to be done for one object that is in two clusters, and why. It stands between the
// caches of both sides and the requests, and is the whole meaning of federation: the spec goes
// down, the status goes up, upstream says what exists. Pure. After each request that it asks for,
// the caller decides again with what is known then.
#pragma once

#include <array>
#include <string>

#include <boost/json/object.hpp>

#include "content.hpp"
#include "rules.hpp"

namespace davit::federation {

enum class Does {
  nothing,  // both are as they should be
  wait,     // for what a watch has yet to show
  create,   // `object`, downstream
  update,   // to `object`, downstream
  remove,   // of `uid` and `resource_version`, downstream
  status,   // to `object`, upstream
  stuck,    // it cannot be as it should be until somebody changes something
};

// "create", "update", "delete" or "status", for people and metrics.
const char* name_of(Does does);

// How the two objects of one name stand to each other, for whoever looks.
enum class Standing {
  in_step,
  ahead,        // upstream has what downstream lacks, or has no more what downstream has
  behind,       // the downstream status has yet to go up
  conflicting,  // somebody keeps changing one of them
  stuck,        // see Does::stuck
  finalizer,    // a finalizer holds the downstream object
  held,         // its delete waits for an operator, see guard.hpp
  unknown,      // a side is not seen
  not_ours,     // the downstream object was not made here
};
inline constexpr std::array standings{Standing::in_step,     Standing::ahead,   Standing::behind,
                                      Standing::conflicting, Standing::stuck,   Standing::finalizer,
                                      Standing::held,        Standing::unknown, Standing::not_ours};

// "in_step", ..., for people, metrics and the wire.
const char* name_of(Standing standing);

// What is known of one object. The objects are borrowed.
struct Picture {
  const json::object* upstream = nullptr;  // NULL: it is not in the cache
  const json::object* downstream = nullptr;
  bool upstream_complete = false;  // what is not in the cache does not exist
  bool downstream_complete = false;
  // The downstream object was asked for by its name: the selector hides it from the cache.
  bool hidden = false;
};

// What this process remembers of its writes of one object. 0 and empty: nothing.
struct Written {
  size_t wanted = 0;          // hash of the content that downstream accepted last
  size_t became = 0;          // hash of what it made of that: schemas have defaults
  size_t refused = 0;         // hash of the content that downstream has refused
  size_t status_refused = 0;  // hash of the status that upstream has refused
  std::string refusal;        // why
  size_t status_wanted = 0;   // hash of the status that upstream accepted last
  bool rests = false;         // what downstream accepted last is not written again now
  bool status_rests = false;  // the same of the status upstream
  std::string created;        // uid of an object that the watch has not shown yet
  std::string removed;        // uid of an object whose delete was accepted
};

struct Action {
  Does does = Does::nothing;
  Standing standing = Standing::in_step;
  bool gone = false;  // a delete: there is no upstream object of this name
  std::string why;
  json::object object;
  size_t hash = 0;  // of what is written, to be remembered
  std::string uid, resource_version;
};

Action decide(const Rules& rules, const Picture& picture, const Written& written);

}  // namespace davit::federation
