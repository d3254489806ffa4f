// What a process of federation says of its objects to whoever looks. A Syncer and the Hub make it
// of what they know at that moment, and service.cpp and review.cpp hand it on.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "decide.hpp"

namespace davit::federation {

struct ObjectReport {
  std::string key;
  Standing standing = Standing::in_step;
  Does does = Does::nothing;  // what is to be written next
  std::string why;
  std::chrono::nanoseconds age{0};  // since it was in step
};

struct SideReport {
  bool complete = false;
  bool final = false;               // it is refused or absent: waiting does not help
  std::string reason;               // why it is not
  std::chrono::nanoseconds age{0};  // since it is, or is not
  size_t objects = 0;
};

struct StandingReport {
  size_t objects = 0;
  std::chrono::nanoseconds oldest{0};
};

struct ResourceReport {
  Rules rules;
  std::string ns;  // empty: all
  SideReport upstream, downstream;
  std::map<Standing, StandingReport> standings;  // those with objects
  std::vector<ObjectReport> objects;             // not in step, the oldest first
  size_t left_out = 0;                           // more of them
  std::string trouble;                           // as health says it
  bool busy = false;                             // an object is looked at, or waits for it
};

struct Report {
  std::string robot_name;
  std::string upstream, downstream;           // instances
  std::string upstream_id, downstream_id;     // of the clusters; empty: not known
  std::string health;                         // empty: nothing is wrong
  std::map<std::string, std::string> faults;  // definitions that cannot take part, and why
  std::vector<ResourceReport> resources;
  bool complete = false;    // all definitions are known
  std::string definitions;  // why they are not
  bool definitions_final = false;
  bool ids_known = false;  // both clusters have said which they are, or refused
  std::string pairing;     // what is wrong with the two
};

// What is asked for.
struct Question {
  std::string resource;    // empty: all
  std::string object;      // "namespace/name" or "name"; empty: all
  size_t objects_max = 0;  // of each resource
};

}  // namespace davit::federation
