// Host code reads its own tables ([host], [rpc.*]) with this; plugins read theirs with
// davit::Settings, by the same rules: asking for a key declares it, and a key nobody asked for is a
// fault. A wrong type, a missing key or a value out of bounds is noted and the fallback returned;
// all faults are reported together, so the code that reads needs no error handling. Main thread,
// before start.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "faults.hpp"
#include "node.hpp"

namespace davit::host {

class Table {
 public:
  // `node` may be nullptr: an absent table, every key of which has its fallback.
  Table(const Node* node, std::string key, Faults* faults)
      : node_(node), key_(std::move(key)), faults_(faults) {}

  bool present() const { return node_ != nullptr; }
  const std::string& key() const { return key_; }  // "rpc.server.main"
  std::string name() const;                        // "main"
  std::string where() const;                       // "server.toml:3"; empty when absent
  std::string where(std::string_view key) const;   // of that key; the table's when it is absent
  bool has(std::string_view key) const;

  // No fallback: the key must be there.
  std::string string(std::string_view key) const { return string(key, std::nullopt); }
  std::string string(std::string_view key, std::optional<std::string> fallback) const;
  int64_t integer(std::string_view key, std::optional<int64_t> fallback, int64_t min = 0,
                  int64_t max = std::numeric_limits<int64_t>::max()) const;
  std::chrono::milliseconds milliseconds(std::string_view key, std::chrono::milliseconds fallback,
                                         int64_t min = 0, int64_t max = 86'400'000) const;
  bool boolean(std::string_view key, bool fallback) const;
  std::vector<std::string> strings(std::string_view key,
                                   std::vector<std::string> fallback = {}) const;
  // One of `words`; anything else is a fault that lists them.
  std::string word(std::string_view key, const std::vector<std::string>& words,
                   std::string_view fallback) const;
  // A path relative to the folder of the file that names it becomes absolute; "credential:NAME"
  // becomes NAME in $CREDENTIALS_DIRECTORY. Empty when the key is absent and `required` is false.
  std::string path(std::string_view key, bool required) const;
  std::vector<std::string> paths(std::string_view key) const;

  Table table(std::string_view key) const;                // [rpc.client]
  std::vector<Table> tables(std::string_view key) const;  // [[rpc.server.main.token]]
  std::vector<Table> named() const;  // every entry, each of which must be a table

  // Notes a fault of this key, or of the table when the key is absent or empty.
  void reject(std::string_view key, std::string_view message) const;

 private:
  const Node* get(std::string_view key, Node::Type type, const char* wanted, bool optional) const;

  const Node* node_;
  std::string key_;
  Faults* faults_;
};

// A path as the file at `file` means it: absolute, "credential:NAME" resolved. An empty string and
// a fault's text in `problem` when it cannot be ($CREDENTIALS_DIRECTORY is not set, a NAME with a
// slash).
std::string resolve_path(std::string_view path, std::string_view file, std::string* problem);

}  // namespace davit::host
