// ConfigTree: a TestHost's Config in the form of the service davit.config. It is a tree of nodes
// that record whether the plugin has read them.
#pragma once

#include <deque>

#include "davit/testing/config.hpp"

namespace davit::testing {

class ConfigTree {
 public:
  ConfigTree(const std::string& instance, const Config& config);

  // The davit_config slots without root and reject: only the host knows its tree.
  static davit_config slots();
  const davit_config_node* root() const;
  void reject(const davit_config_node* node, std::string_view message);
  // The rejected settings, then the keys that no code has read.
  std::vector<std::string> faults() const;

 private:
  struct Node {
    int32_t type = DAVIT_CONFIG_TABLE;
    std::string key, where, text;
    int64_t integer = 0;
    double real = 0;
    bool boolean = false;
    std::deque<Node> items;
    mutable bool read = false;
  };
  static const Node& node(const davit_config_node* n) { return *reinterpret_cast<const Node*>(n); }
  static const davit_config_node* abi(const Node* n) {
    return reinterpret_cast<const davit_config_node*>(n);
  }
  static const davit_config_node* find(const davit_config_node* table, davit_str key);
  static void unread(const Node& n, std::vector<std::string>& out);
  void fill(Node& table, const Config& config);
  void fill(Node& to, const Config::Value& value);

  Node root_;
  int line_ = 0;
  std::vector<std::string> rejected_;
};

}  // namespace davit::testing
