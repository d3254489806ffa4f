// One value of the merged configuration, and where it was written. Made by the TOML reader
// (toml.cpp), merged by merge.hpp, read by Table (host code) and by the service davit.config
// (plugins).
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
  std::string name;  // the last part of the key; of an array's item "[2]"
  std::string key;   // full dotted key: plugin.applier.workers
  std::string file;  // as it was named on the command line, or found in a directory
  uint32_t line = 0, column = 0;
  std::string where;  // "agent.toml:12"

  std::string string;
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<std::unique_ptr<Node>> children;  // in the order of their first appearance

  // What the readers did; guarded by the one thread that configures (main).
  mutable bool read = false;
  mutable bool rejected = false;  // a fault was noted here: say nothing more about what is below
  // Whoever knows its keys did not get to say them all: a key that nobody asked for is a fault only
  // when it looks like one that was asked for and is not there.
  mutable bool closed = false;
  mutable Keys asked;  // keys somebody asked this table for

  // The entry of a table, without marking anything; nullptr = absent.
  const Node* find(std::string_view entry) const;
  // The same, and notes that the key is known.
  const Node* ask(std::string_view entry) const;

  void reject(Faults& faults, std::string_view message) const;
};

// Adds a fault for every key below `table` that nobody asked for, with the nearest key that was.
void reject_unread(const Node& table, Faults& faults);

}  // namespace davit::host
