// The words in which writers, readers and the audit speak of the same things. Time is a counter of
// the process: who takes a lower number has certainly done what it did before whoever takes a
// higher one.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace davit::torture {

struct Topic {
  std::string kind, region;
  auto operator<=>(const Topic&) const = default;
};

// What a cluster holds under one name.
struct Object {
  std::string id, content;
  uint64_t version = 0;
  bool operator==(const Object&) const = default;
};
using Objects = std::map<std::string, Object>;

// A write that the server answered.
struct Write {
  std::string name, id, content;
  bool live = true;
  uint64_t version = 0;  // 0: a delete whose tombstone was purged before its answer was heard
  uint64_t asked = 0;    // before it was sent for the first time
  uint64_t answered = 0;
  std::string request_id;  // with its document's place; empty: it had none
};

// The writes of one name, in the order in which they were made: nobody writes a name before the
// outcome of the write before is known.
using Journal = std::map<Topic, std::map<std::string, std::vector<Write>>>;

// What a reader did to its cluster, and how far it is since then.
struct Step {
  uint64_t at = 0;
  std::string name;           // empty: nothing changed
  std::optional<Object> now;  // nothing: the name is gone
  uint64_t through = 0;  // everything up to here has been heard of; 0: in the middle of a snapshot
  bool whole = false;    // the end of a snapshot: `through` may be lower than before
};

using Steps = std::deque<Step>;  // millions of them, which are never moved

struct Cursor {
  uint64_t incarnation = 0, version = 0;
};

struct Row {
  Topic topic;
  std::string name, id, content, request_id;
  uint64_t version = 0;
  bool live = true;
};

// The store as an independent reader finds it.
struct Stored {
  std::vector<Row> rows;
  std::map<std::string, uint64_t> requests;  // request id -> first version
  uint64_t head = 0, purged_through = 0;
};

struct Fault {
  std::string what;
  Topic topic;
  std::string name;    // may be empty
  std::string reader;  // may be empty
  uint64_t at = UINT64_MAX;
};

}  // namespace davit::torture
