// How one object of the cluster is: the rules of kstatus, Argo CD and Flux for the common kinds,
// and conditions for all others. Pure.
#pragma once

#include <string>

#include <boost/json/fwd.hpp>

#include "site.hpp"

namespace davit::manifest {

// In the order in which a status shows them: the worst first.
enum class State {
  failed,       // waiting does not help
  missing,      // not there
  outdated,     // not yet what the record wants
  terminating,  // somebody is deleting it
  progressing,  // its controller works on it
  suspended,    // as the object itself wants it
  healthy,
};

struct Health {
  State state = State::healthy;
  std::string why;  // for people; empty when it is healthy
};

inline bool is_fine(State s) {
  return s == State::healthy || s == State::suspended;
}
// The word of a status: "progressing".
const char* word_of(State);

// Of an object that is there and as the record wants it.
Health judge(const boost::json::value& object, const Site&);

}  // namespace davit::manifest
