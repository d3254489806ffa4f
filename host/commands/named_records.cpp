#include "named_records.hpp"

#include <algorithm>

namespace davit::host {

namespace {

RecordName of_one_word(const std::string& word) {
  const size_t slash = word.find('/');
  if (slash == std::string::npos)
    throw UsageError("\"" + word + "\" has no kind: KIND ID..., or KIND/ID for each");
  RecordName out{word.substr(0, slash), word.substr(slash + 1)};
  if (out.kind.empty() || out.id.empty())
    throw UsageError("\"" + word + "\" must be KIND/ID, with both");
  return out;
}

}  // namespace

void RecordWords::add_words(Command& command) {
  command.word("KIND", first, "a kind; or KIND/ID, any number of them");
  command.words("ID", more, "records of the kind");
}

// An id may have a slash, and a kind has none: after KIND, every word is an id as it stands.
std::vector<RecordName> RecordWords::names() const {
  std::vector<RecordName> out;
  const bool pairs = first.find('/') != std::string::npos;
  if (first.empty() && !more.empty()) throw UsageError("the kind is empty");
  if (pairs) out.push_back(of_one_word(first));
  if (!pairs && !first.empty() && more.empty()) out.push_back({first, {}});
  for (const std::string& word : more) {
    if (word.empty()) throw UsageError("an id is empty");
    RecordName name = pairs ? of_one_word(word) : RecordName{first, word};
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
  }
  return out;
}

bool have_ids(const std::vector<RecordName>& names) {
  return !names.empty() && !names.front().id.empty();
}

std::set<std::string> kinds_of(const std::vector<RecordName>& names) {
  std::set<std::string> out;
  for (const RecordName& name : names) out.insert(name.kind);
  return out;
}

std::string common_kind(const std::vector<RecordName>& names) {
  const std::set<std::string> kinds = kinds_of(names);
  return kinds.size() == 1 ? *kinds.begin() : "";
}

}  // namespace davit::host
