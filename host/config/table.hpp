// Reads the host's own tables ([host], [rpc.*]). Plugins read theirs with davit::Settings, by the
// same rules: a key that no reader asks for is a fault. A wrong type, a missing key or a value out
// of bounds is also a fault, and the reader gets the fallback. All faults are reported together, so
// readers need no error handling. For the main thread, before start.
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
  // `node` may be nullptr: the table is absent, and every key has its fallback.
  Table(const Node* node, std::string key, Faults* faults)
      : node_(node), key_(std::move(key)), faults_(faults) {}

  bool present() const { return node_ != nullptr; }
  const std::string& key() const { return key_; }  // "rpc.server.main"
  std::string name() const;                        // "main"
  std::string where() const;                       // "server.toml:3"; empty when absent
  std::string where(std::string_view key) const;   // the key's; the table's if the key is absent
  bool has(std::string_view key) const;

  // Without a fallback the key is required.
  std::string string(std::string_view key) const { return string(key, std::nullopt); }
  std::string string(std::string_view key, std::optional<std::string> fallback) const;
  int64_t integer(std::string_view key, std::optional<int64_t> fallback, int64_t min = 0,
                  int64_t max = std::numeric_limits<int64_t>::max()) const;
  std::chrono::milliseconds milliseconds(std::string_view key, std::chrono::milliseconds fallback,
                                         int64_t min = 0, int64_t max = 86'400'000) const;
  bool boolean(std::string_view key, bool fallback) const;
  std::vector<std::string> strings(std::string_view key,
                                   std::vector<std::string> fallback = {}) const;
  // One of `words`. Any other value is a fault that lists them.
  std::string word(std::string_view key, const std::vector<std::string>& words,
                   std::string_view fallback) const;
  // A relative path becomes absolute: it is relative to the folder of the file that contains it.
  // "credential:NAME" becomes NAME in $CREDENTIALS_DIRECTORY. Returns an empty string if the key is
  // absent; that is a fault if `required`.
  std::string path(std::string_view key, bool required) const;
  std::vector<std::string> paths(std::string_view key) const;

  Table table(std::string_view key) const;                // [rpc.client]
  std::vector<Table> tables(std::string_view key) const;  // [[rpc.server.main.token]]
  std::vector<Table> named() const;                       // all entries; each must be a table

  // Adds a fault for this key, or for the table if the key is absent or empty.
  void reject(std::string_view key, std::string_view message) const;

 private:
  const Node* get(std::string_view key, Node::Type type, const char* wanted, bool optional) const;

  const Node* node_;
  std::string key_;
  Faults* faults_;
};

constexpr std::string_view credential_scheme = "credential:";

// Makes `path` absolute as the file at `file` means it, and resolves "credential:NAME": it is NAME
// in $CREDENTIALS_DIRECTORY, or davit_NAME. systemd calls it so if a unit loads the file NAME with
// LoadCredential=davit:FOLDER. If that is impossible (there is no such credential, NAME contains a
// slash), returns an empty string and puts the fault's text into `problem`.
std::string resolve_path(std::string_view path, std::string_view file, std::string* problem);

}  // namespace davit::host
