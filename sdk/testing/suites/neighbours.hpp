// The instances beside the one under test, for plugins that look up others in wire:
//
//   conformance.beside.main = "/where/storage_sqlite.so"
//   conformance.beside.main.path = "$TMP/davit.db"
//
// The key names the instance, and the keys behind it are its configuration. A neighbour that plays
// codec/1 or rpc/1 is asked for this service of the host, which TestHost does not have.
#pragma once

#include <deque>

#include "davit/testing/module.hpp"

namespace davit::conformance {

class Neighbours {
 public:
  // Makes no instance yet. `host` is that of the instance under test, and outlives this.
  Neighbours(testing::TestHost& host, const testing::Config& options, const std::string& directory);
  // Creates all in the order of the file, then wires all, then starts all.
  Result<> up();
  // Stops and destroys them, the last one first.
  ~Neighbours();

 private:
  struct One {
    std::string path;
    testing::Config config{};
    std::unique_ptr<testing::TestHost> host{};
    std::unique_ptr<testing::Instance> instance{};
  };
  Result<> create(const std::string& name, One& one);

  testing::TestHost& host_;
  std::deque<std::pair<std::string, One>> all_;
};

}  // namespace davit::conformance
