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
      // A fault of the whole table may be in any of its files, so `where` lists all of them.
      if (!(*same)->where.empty() && !entry->where.empty()) (*same)->where += ", " + entry->where;
      merge(**same, std::move(entry));
    } else {
      *same = std::move(entry);
    }
  }
}

}  // namespace davit::host
