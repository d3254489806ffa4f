// The configuration of one host: several TOML files merged key by key. Tables are merged, later
// values win, and arrays are replaced. Each key keeps the file and line that it comes from.
//
//   Faults faults;
//   Config config = Config::load({"server.toml", "server.conf.d"}, faults);
//   Table rpc = config.table("rpc", faults);             // [rpc.*]
//   for (const Table& server : rpc.table("server").named()) { server.string("listen"); ... }
//   config.reject_unread(faults);                        // when every reader is done
//
// A directory stands for its *.toml files in the order of their names. One whose name ends in ".d"
// need not be there. Only files and directories that the caller names are read.
#pragma once

#include "table.hpp"

namespace davit::host {

class Config {
 public:
  // Reads and merges the files. Syntax errors and unreadable files become faults; the result
  // contains everything that could be read.
  static Config load(const std::vector<std::string>& paths, Faults& faults);
  // Parses one text, for tests and fuzzing. `name` stands for the file.
  static Config parse(std::string_view text, std::string_view name, Faults& faults);

  // Returns a top-level table, and marks it as known.
  Table table(std::string_view name, Faults& faults) const;
  const Node& root() const { return *root_; }
  // The [plugin.NAME] tables in the order of their first appearance. Marks them as known.
  std::vector<const Node*> plugins(Faults& faults) const;
  const std::vector<std::string>& files() const { return files_; }

  // Adds a fault for every key that no reader has asked for.
  void reject_unread(Faults& faults) const;

 private:
  Config();
  std::unique_ptr<Node> root_;
  std::vector<std::string> files_;
};

}  // namespace davit::host
