// One value of the merged configuration, with the file and line it comes from. toml.cpp creates
// nodes, and merge.hpp merges them. Host code reads them through Table, plugins through the service
// davit.config.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace davit::host {

class Faults;

using Keys = std::set<std::string, std::less<>>;

struct Node {
  // The values are those of DAVIT_CONFIG_... in abi/services.h.
  enum class Type : int32_t {
    table = 1,
    array = 2,
    string = 3,
    integer = 4,
    real = 5,
    boolean = 6
  };

  Type type = Type::table;
  std::string name;  // the last part of the key; "[2]" for an array's item
  std::string key;   // full dotted key: plugin.applier.workers
  std::string file;  // as named on the command line, or found in a directory
  uint32_t line = 0, column = 0;
  std::string where;  // "agent.toml:12"

  std::string string;
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<std::unique_ptr<Node>> children;  // in the order of their first appearance

  // What the readers did. Only the main thread, which configures, touches these.
  mutable bool read = false;
  mutable bool rejected = false;  // has a fault already; add none for the keys below it
  // The reader of this table did not finish, so its known keys are incomplete. An unknown key is
  // then a fault only if it resembles a known key that is absent.
  mutable bool closed = false;
  mutable Keys asked;  // keys that a reader asked this table for

  // Returns the entry of a table and marks nothing; nullptr if it is absent.
  const Node* find(std::string_view entry) const;
  // Like find, and marks the key as known and the entry as read.
  const Node* ask(std::string_view entry) const;

  // Adds a fault at this node's place.
  void reject(Faults& faults, std::string_view message) const;
};

// Adds a fault for every key below `table` that no reader asked for, and suggests the nearest known
// key.
void reject_unread(const Node& table, Faults& faults);

}  // namespace davit::host
