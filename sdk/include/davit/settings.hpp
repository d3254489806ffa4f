// Settings: reads an instance's table of the configuration. Only in the plugin's constructor.
//
// Reading a key declares it: a key that no code reads is an error with file, line and key. A wrong
// type, a missing key and a value out of bounds are faults. For a wrong type or a missing key the
// reader returns the fallback, or an empty value or `min` when there is none; for a number out of
// bounds the nearest that is allowed. The host reports all faults together and does not make the
// instance, so code that reads settings needs no error handling and may compute with what it gets.
#pragma once

#include <algorithm>
#include <limits>

#include "host.hpp"

namespace davit {

class Settings {
 public:
  explicit Settings(const Host& host)
      : host_(host.abi()),
        config_(host.service<davit_config>(DAVIT_CONFIG)),
        table_(config_->root(host_)) {}

  bool has(std::string_view key) const {
    return table_ != nullptr && config_->get(table_, str(key)) != nullptr;
  }

  std::string string(std::string_view key) const { return string(key, std::nullopt); }
  std::string string(std::string_view key, std::optional<std::string> fallback) const {
    const auto* node = get(key, DAVIT_CONFIG_STRING, "a string", fallback.has_value());
    return node == nullptr ? fallback.value_or("") : text(config_->string(node));
  }
  // nullopt when the key is absent.
  std::optional<std::string> optional_string(std::string_view key) const {
    if (!has(key)) return std::nullopt;
    return string(key);
  }
  int64_t integer(std::string_view key, std::optional<int64_t> fallback, int64_t min = 0,
                  int64_t max = std::numeric_limits<int64_t>::max()) const {
    const auto* node = get(key, DAVIT_CONFIG_INTEGER, "an integer", fallback.has_value());
    if (node == nullptr) return fallback.value_or(min);
    const int64_t value = config_->integer(node);
    if (value < min || value > max) {
      config_->reject(host_, node,
                      str("must be between " + std::to_string(min) + " and " + std::to_string(max) +
                          ", not " + std::to_string(value)));
    }
    return std::clamp(value, min, max);
  }
  // For keys whose names end in _ms.
  std::chrono::milliseconds milliseconds(std::string_view key, std::chrono::milliseconds fallback,
                                         int64_t min = 0, int64_t max = 86'400'000) const {
    return std::chrono::milliseconds(integer(key, fallback.count(), min, max));
  }
  bool boolean(std::string_view key, bool fallback) const {
    const auto* node = get(key, DAVIT_CONFIG_BOOLEAN, "true or false", true);
    return node == nullptr ? fallback : config_->boolean(node) != 0;
  }
  std::vector<std::string> strings(std::string_view key,
                                   std::vector<std::string> fallback = {}) const {
    const auto* node = get(key, DAVIT_CONFIG_ARRAY, "an array of strings", true);
    if (node == nullptr) return fallback;
    std::vector<std::string> out;
    for (size_t i = 0; i < config_->size(node); ++i) {
      const auto* item = config_->at(node, i);
      if (config_->type(item) == DAVIT_CONFIG_STRING) {
        out.push_back(text(config_->string(item)));
      } else {
        config_->reject(host_, item, str("must be a string"));
      }
    }
    return out;
  }
  // The table `key` in this one, or an empty one. Its keys must be read, too.
  Settings table(std::string_view key) const {
    return {host_, config_, get(key, DAVIT_CONFIG_TABLE, "a table", true)};
  }
  // The tables of an array ([[plugin.x.key]]).
  std::vector<Settings> tables(std::string_view key) const {
    std::vector<Settings> out;
    const auto* node = get(key, DAVIT_CONFIG_ARRAY, "an array of tables", true);
    for (size_t i = 0; node != nullptr && i < config_->size(node); ++i) {
      const auto* item = config_->at(node, i);
      if (config_->type(item) == DAVIT_CONFIG_TABLE) {
        out.push_back({host_, config_, item});
      } else {
        config_->reject(host_, item, str("must be a table"));
      }
    }
    return out;
  }
  // All entries of a table whose keys the operator chooses, such as labels. Each must be a string.
  Pairs entries() const {
    Pairs out;
    for (size_t i = 0; table_ != nullptr && i < config_->size(table_); ++i) {
      const auto* item = config_->at(table_, i);
      std::string_view key = view(config_->key(item));
      key.remove_prefix(view(config_->key(table_)).size() + 1);
      if (config_->type(item) == DAVIT_CONFIG_STRING) {
        out.emplace_back(key, view(config_->string(item)));
      } else {
        config_->reject(host_, item, str("must be a string"));
      }
    }
    return out;
  }
  // Notes a fault of this key, or of the table when the key is absent.
  void reject(std::string_view key, std::string_view message) const {
    const auto* node = table_ == nullptr ? nullptr : config_->get(table_, str(key));
    if (node != nullptr) {
      config_->reject(host_, node, str(message));
    } else {
      config_->reject(host_, table_ != nullptr ? table_ : config_->root(host_),
                      str("key \"" + std::string(key) + "\": " + std::string(message)));
    }
  }

 private:
  Settings(const davit_host* host, const davit_config* config, const davit_config_node* table)
      : host_(host), config_(config), table_(table) {}

  // The node, when it exists and has the type. Otherwise NULL, and the fault is noted; an absent
  // optional key is no fault.
  const davit_config_node* get(std::string_view key, int32_t type, const char* wanted,
                               bool optional) const {
    const auto* node = table_ == nullptr ? nullptr : config_->get(table_, str(key));
    if (node == nullptr) {
      if (!optional) reject(key, std::string("is missing (") + wanted + ")");
      return nullptr;
    }
    if (config_->type(node) == type) return node;
    config_->reject(host_, node, str(std::string("must be ") + wanted));
    return nullptr;
  }

  const davit_host* host_;
  const davit_config* config_;
  const davit_config_node* table_;  // NULL: the table is optional and absent
};

}  // namespace davit
