// The records that the words of get, delete and status name, as kubectl reads them: KIND,
// KIND ID..., or KIND/ID...
#pragma once

#include <set>
#include <string>
#include <vector>

#include "command_line.hpp"

namespace davit::host {

// What is said to -l, which kubectl has.
inline constexpr const char* no_labels =
    "records have no labels: select by kind, id, --region or --namespace, or with -o jsonpath";

struct RecordName {
  std::string kind;
  std::string id;  // empty: all of the kind
  auto operator<=>(const RecordName&) const = default;
};

struct RecordWords {
  std::string first;
  std::vector<std::string> more;

  void add_words(Command& command);
  // Each once, in order; empty if there are no words. Throws a UsageError.
  std::vector<RecordName> names() const;
};

// True if the names have ids: they are one kind without an id otherwise, or none.
bool have_ids(const std::vector<RecordName>& names);
std::set<std::string> kinds_of(const std::vector<RecordName>& names);
// The kind if they are all of one, otherwise "".
std::string common_kind(const std::vector<RecordName>& names);

}  // namespace davit::host
