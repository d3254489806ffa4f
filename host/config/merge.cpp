#include "merge.hpp"

#include <algorithm>

namespace davit::host {

void merge(Node& into, std::unique_ptr<Node> over) {
  for (auto& entry : over->children) {
    auto same = std::find_if(into.children.begin(), into.children.end(),
                             [&](const auto& child) { return child->name == entry->name; });
    if (same == into.children.end()) {
      into.children.push_back(std::move(entry));
    } else if ((*same)->type == Node::Type::table && entry->type == Node::Type::table) {
      merge(**same, std::move(entry));  // the table says where it was first named
    } else {
      *same = std::move(entry);
    }
  }
}

}  // namespace davit::host
