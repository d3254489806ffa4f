#include "commit_preview.hpp"

namespace davit::desired {

namespace {

std::string shown(const std::string& ns, const std::string& name) {
  return "\"" + ns + "/" + name + "\"";
}

}  // namespace

std::optional<Error> CommitPreview::refusal(const Record& wanted,
                                            const std::optional<Record>& stored,
                                            const std::optional<Key>& owner) {
  const bool named = stored && !stored->name.empty();
  if (named && (stored->ns != wanted.ns || stored->name != wanted.name)) {
    return Error{Code::invalid_argument,
                 wanted.key.kind + " \"" + wanted.key.id + "\" of region \"" + wanted.key.region +
                     "\" is " + shown(stored->ns, stored->name) +
                     " for its life and cannot become " + shown(wanted.ns, wanted.name)};
  }
  if (stored && stored->live && !wanted.live) freed_.insert(wanted.key);
  if (!claims_name(wanted, stored)) return std::nullopt;
  if (owner && owner->id != wanted.key.id) return name_taken(owner->id);
  const auto [claim, first] = claimed_.emplace(
      std::array{wanted.key.kind, wanted.key.region, wanted.ns, wanted.name}, wanted.key.id);
  if (!first && claim->second != wanted.key.id) return name_taken(claim->second);
  return std::nullopt;
}

Error CommitPreview::name_taken(const std::string& id) {
  return {Code::already_exists, "its name is taken by \"" + id + "\", which is live"};
}

}  // namespace davit::desired
