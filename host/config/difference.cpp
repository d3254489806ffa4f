#include "difference.hpp"

#include <charconv>
#include <map>

#include "node.hpp"

namespace davit::host {
namespace {

struct Said {
  std::string value, where;
};

// As many digits as tell the number from every other.
std::string shown(double real) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, real).ptr};
}

std::string shown(const Node& node) {
  switch (node.type) {
    case Node::Type::string:
      return "s" + std::to_string(node.string.size()) + ":" + node.string;
    case Node::Type::integer:
      return "i" + std::to_string(node.integer);
    case Node::Type::real:
      return "r" + shown(node.real);
    case Node::Type::boolean:
      return node.boolean ? "true" : "false";
    case Node::Type::table:
    case Node::Type::array:
      break;
  }
  std::string out = node.type == Node::Type::table ? "{" : "[";
  for (const auto& child : node.children) {
    if (node.type == Node::Type::table) out += child->name + "=";
    out += shown(*child) + ",";
  }
  return out + (node.type == Node::Type::table ? "}" : "]");
}

void collect(const Node& node, std::map<std::string, Said>& out) {
  if (node.type != Node::Type::table) {
    out[node.key] = {shown(node), node.where};
    return;
  }
  // An empty table counts as well: [plugin.leader] needs no key.
  if (!node.key.empty() && node.children.empty()) out[node.key] = {"{}", node.where};
  for (const auto& child : node.children) collect(*child, out);
}

}  // namespace

std::vector<Difference> differences(const Node& before, const Node& after) {
  std::map<std::string, Said> was, is;
  collect(before, was);
  collect(after, is);
  std::map<std::string, std::string> keys;
  for (const auto& [key, said] : was) {
    const auto now = is.find(key);
    if (now == is.end()) {
      keys[key] = "";
    } else if (now->second.value != said.value) {
      keys[key] = now->second.where;
    }
  }
  for (const auto& [key, said] : is) {
    if (!was.contains(key)) keys[key] = said.where;
  }
  std::vector<Difference> out;
  for (auto& [key, where] : keys) out.push_back({key, where});
  return out;
}

}  // namespace davit::host
