#include "config_tree.hpp"

namespace davit::testing {

ConfigTree::ConfigTree(const std::string& instance, const Config& config) {
  root_.key = "plugin." + instance;
  root_.where = "test.toml:0";
  fill(root_, config);
}

void ConfigTree::fill(Node& table, const Config& config) {
  for (const auto& entry : config.entries()) {
    Node* at = &table;
    std::string_view rest = entry.key;
    ++line_;
    while (!rest.empty()) {
      const size_t dot = rest.find('.');
      const std::string key = at->key + "." + std::string(rest.substr(0, dot));
      Node* next = nullptr;
      for (auto& item : at->items) {
        if (item.key == key) next = &item;
      }
      if (next == nullptr) {
        next = &at->items.emplace_back();
        next->key = key;
        next->where = "test.toml:" + std::to_string(line_);
      }
      at = next;
      rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
    }
    fill(*at, entry.value);
  }
}

void ConfigTree::fill(Node& to, const Config::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    to.type = DAVIT_CONFIG_STRING;
    to.text = *text;
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    to.type = DAVIT_CONFIG_INTEGER;
    to.integer = *integer;
  } else if (const auto* real = std::get_if<double>(&value)) {
    to.type = DAVIT_CONFIG_REAL;
    to.real = *real;
  } else if (const auto* boolean = std::get_if<bool>(&value)) {
    to.type = DAVIT_CONFIG_BOOLEAN;
    to.boolean = *boolean;
  } else {
    to.type = DAVIT_CONFIG_ARRAY;
    const auto add = [&]() -> Node& {
      Node& item = to.items.emplace_back();
      item.key = to.key + "[" + std::to_string(to.items.size() - 1) + "]";
      item.where = to.where;
      return item;
    };
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
      for (const auto& item : *list) fill(add(), Config::Value(item));
    } else {
      for (const auto& table : std::get<std::vector<Config>>(value)) fill(add(), table);
    }
  }
}

const davit_config_node* ConfigTree::root() const {
  return abi(&root_);
}

const davit_config_node* ConfigTree::find(const davit_config_node* table, davit_str key) {
  const Node& t = node(table);
  t.read = true;
  const std::string full = t.key + "." + text(key);
  for (const auto& item : t.items) {
    if (item.key == full) {
      item.read = true;
      return abi(&item);
    }
  }
  return nullptr;
}

davit_config ConfigTree::slots() {
  davit_config c{};
  c.struct_size = sizeof c;
  c.type = [](const davit_config_node* n) {
    return n == nullptr ? DAVIT_CONFIG_NONE : node(n).type;
  };
  c.get = &ConfigTree::find;
  c.size = [](const davit_config_node* n) { return node(n).items.size(); };
  c.at = [](const davit_config_node* n, size_t index) {
    const Node& item = node(n).items.at(index);
    item.read = true;
    return abi(&item);
  };
  c.key = [](const davit_config_node* n) { return str(node(n).key); };
  c.where = [](const davit_config_node* n) { return str(node(n).where); };
  c.string = [](const davit_config_node* n) { return str(node(n).text); };
  c.integer = [](const davit_config_node* n) { return node(n).integer; };
  c.real = [](const davit_config_node* n) { return node(n).real; };
  c.boolean = [](const davit_config_node* n) { return int32_t{node(n).boolean}; };
  return c;
}

void ConfigTree::reject(const davit_config_node* n, std::string_view message) {
  rejected_.push_back(node(n).where + ": " + node(n).key + ": " + std::string(message));
}

void ConfigTree::unread(const Node& n, std::vector<std::string>& out) {
  for (const auto& item : n.items) {
    if (!item.read) {
      out.push_back(item.where + ": " + item.key + ": unknown key");
    } else {
      unread(item, out);
    }
  }
}

std::vector<std::string> ConfigTree::faults() const {
  auto out = rejected_;
  unread(root_, out);
  return out;
}

}  // namespace davit::testing
