// What the shipped configuration files (etc/*.toml) say of each setting: its default and what it is
// for. They are the one place where this stands; the program carries their text.
//
//   #poll_interval_ms = 1000        # a key with its default, and what it is for
//   storage = "main"                # a key that must be set, or that a site usually sets
//   #metrics_listen = "..."         # off when absent: words that make the value an example
//   #[plugin.x.token]               # a table, and what it is for
//   #  token_file = ""              # two spaces: a key that does not go with those before it
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "setting.hpp"

namespace davit::host {

class Catalogue {
 public:
  // That of the shipped files.
  static Catalogue shipped();
  // Reads one file. What an earlier file has said of a setting stays.
  void read(std::string_view text);

  // Fills in `usual`, `example` and `about` of the parts of `table`. `scope`: "plugin:streamer" of
  // the plugins of that module, "host", "rpc.server" or "rpc.client".
  void describe(const std::string& scope, Setting& table) const;
  // What it has of a scope, as dotted names: "token.url". Sorted.
  std::vector<std::string> names(const std::string& scope) const;
  std::vector<std::string> scopes() const;
  // What the files say of the plugin where they name its module.
  std::string about_module(const std::string& module) const;

 private:
  struct Entry {
    std::string value, about;  // the value is empty for a table
    bool commented = false;
  };
  struct Reader;
  void describe(const std::string& scope, const std::string& prefix, Setting& table) const;

  std::map<std::string, std::map<std::string, Entry>> scopes_;
};

}  // namespace davit::host
