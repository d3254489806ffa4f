// The configuration of one host: several TOML files merged per key (tables deep, later files win,
// arrays replace), every key with the file and line it came from.
//
//   Faults faults;
//   Config config = Config::load({"server.toml", "conf.d"}, faults);
//   Table rpc = config.table("rpc", faults);             // what [rpc.*] says
//   for (const Table& server : rpc.table("server").named()) { server.string("listen"); ... }
//   config.reject_unread(faults);                        // after everybody has read
//
// A directory stands for its *.toml files in the order of their names. Nothing is read that was not
// named: /etc/davit/conf.d takes part when the command line says so.
#pragma once

#include "table.hpp"

namespace davit::host {

class Config {
 public:
  // Reads and merges; syntax errors and unreadable files are faults, and what could be read is
  // returned.
  static Config load(const std::vector<std::string>& paths, Faults& faults);
  // One text, for tests and fuzzing; `name` stands for the file.
  static Config parse(std::string_view text, std::string_view name, Faults& faults);

  // A top-level table, asked for and thereby known.
  Table table(std::string_view name, Faults& faults) const;
  const Node& root() const { return *root_; }
  // [plugin.NAME] tables in the order of their first appearance. Asking for them declares them.
  std::vector<const Node*> plugins(Faults& faults) const;
  const std::vector<std::string>& files() const { return files_; }

  void reject_unread(Faults& faults) const;

 private:
  Config();
  std::unique_ptr<Node> root_;
  std::vector<std::string> files_;
};

}  // namespace davit::host
