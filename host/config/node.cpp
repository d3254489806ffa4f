#include "node.hpp"

#include "faults.hpp"
#include "suggest.hpp"

namespace davit::host {

const Node* Node::find(std::string_view entry) const {
  if (type != Type::table) return nullptr;
  for (const auto& child : children) {
    if (child->name == entry) return child.get();
  }
  return nullptr;
}

const Node* Node::ask(std::string_view entry) const {
  asked.emplace(entry);
  const Node* found = find(entry);
  if (found != nullptr) found->read = true;
  return found;
}

void Node::reject(Faults& faults, std::string_view message) const {
  rejected = true;
  faults.add(where, key, message);
}

namespace {

// The keys that an unknown key may be a misspelling of.
Keys known_keys(const Node& node) {
  Keys keys = node.asked;
  if (node.closed) std::erase_if(keys, [&](const auto& key) { return node.find(key) != nullptr; });
  return keys;
}

void reject_unread_in(const Node& node, Faults& faults) {
  // A value of the wrong type has no known keys. A table that was read and then rejected has some.
  if (node.rejected && node.asked.empty()) return;
  const Keys known = known_keys(node);
  for (const auto& child : node.children) {
    const bool item_of_plain_array =
        node.type == Node::Type::array && child->type != Node::Type::table;
    if (child->read || item_of_plain_array) {
      if (!node.closed) reject_unread_in(*child, faults);
    } else if (!child->rejected) {
      const std::string near = nearest(child->name, known);
      if (near.empty() && node.closed) continue;
      child->reject(faults,
                    near.empty() ? "unknown key" : "unknown key; did you mean \"" + near + "\"?");
    }
  }
}

}  // namespace

void reject_unread(const Node& table, Faults& faults) {
  reject_unread_in(table, faults);
}

}  // namespace davit::host
