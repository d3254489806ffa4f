// What a group of changes must be, whatever the database, for backends: each function gives the
// error of abi/storage.h that a group or a mutation deserves, or nothing. They ask no database: the
// backend says what it has of the record.
#pragma once

#include <set>

#include "storage_chain.hpp"

namespace davit::storage {

namespace group_text {

inline std::string shown(const Key& key) {
  return key.kind + " \"" + key.id + "\" of region \"" + key.region + "\"";
}
inline std::string shown(const std::string& ns, const std::string& name) {
  return "\"" + ns + "/" + name + "\"";
}

inline void append_json(std::string& out, std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += hex[c >> 4];
      out += hex[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace group_text

// INVALID_ARGUMENT: the group is empty, or one of its records lacks a key or a name, or stands
// twice in it.
inline std::optional<Error> malformed(const Group& group) {
  const auto invalid = [](const std::string& message, const std::string& where) {
    return Error{Code::invalid_argument, message, where};
  };
  if (group.mutations.empty()) return invalid("a group has at least one mutation", "");
  std::set<Key> keys;
  for (const auto& m : group.mutations) {
    const Record& r = m.record;
    if (r.key.kind.empty() || r.key.region.empty() || r.key.id.empty())
      return invalid("a record needs a kind, a region and an id", r.key.id);
    if (r.live && r.name.empty())
      return invalid(group_text::shown(r.key) + " needs a name", r.key.id);
    if (!keys.insert(r.key).second)
      return invalid(group_text::shown(r.key) + " stands twice in one group", r.key.id);
  }
  return std::nullopt;
}

// ABORTED (S5): the record has `version` (0: it does not exist), and the mutation expects another
// one, or one that the chain has lost. `head` is the newest version before the commit.
inline std::optional<Error> unmet(const Mutation& m, Version version, const Chain& chain,
                                  Version head) {
  const bool kept = chain.keeps_what_is_expected(m, head);
  if (m.expect == any_version || (m.expect == version && kept)) return std::nullopt;
  const std::string is = !version ? "does not exist" : "has version " + to_string(version);
  const std::string expected = !m.expect ? "no such record"
                                         : "version " + to_string(m.expect) +
                                               (kept ? "" : " of an incarnation that has lost it");
  const Key& key = m.record.key;
  return Error{Code::aborted, group_text::shown(key) + " " + is + ", expected was " + expected,
               key.id};
}

// INVALID_ARGUMENT: the record has this namespace and name for its life (S13). An empty name: it
// has none yet.
inline std::optional<Error> renamed(const Record& r, const std::string& ns,
                                    const std::string& name) {
  if (name.empty() || (r.ns == ns && r.name == name)) return std::nullopt;
  // A deleted record whose name was taken over is shown without a name, and may be written without
  // one.
  if (!r.live && r.ns.empty() && r.name.empty()) return std::nullopt;
  return Error{Code::invalid_argument,
               group_text::shown(r.key) + " is " + group_text::shown(ns, name) +
                   " for its life and cannot become " + group_text::shown(r.ns, r.name),
               r.key.id};
}

// ALREADY_EXISTS: the live record with the id `owner` has the name.
inline Error name_taken(const Record& r, const std::string& owner) {
  return {Code::already_exists,
          r.key.kind + " " + group_text::shown(r.ns, r.name) + " of region \"" + r.key.region +
              "\" exists already, with id \"" + owner + "\"",
          owner};
}

// The text after the last newline of a request id is a fingerprint of the request. The same id with
// another fingerprint is a mistake of the caller: its write would be lost silently.
inline Error request_reused() {
  return {Code::failed_precondition,
          "the request id was used before for something else: use a new one", "request_id"};
}

// FAILED_PRECONDITION (I4): the group carries out an intent that is not open, or not there.
inline Error not_open(uint64_t intent) {
  return {Code::failed_precondition,
          "intent " + std::to_string(intent) + " is not open: it has an outcome, or was removed",
          "intent"};
}

// UNAVAILABLE (I4): another transaction has the intent.
inline Error busy(uint64_t intent) {
  return {Code::unavailable,
          "intent " + std::to_string(intent) + " is being changed by another transaction",
          "intent"};
}

// A JSON object, for a database that keeps annotations in a column.
inline std::string annotations_json(const Pairs& pairs) {
  std::string out = "{";
  for (const auto& [key, value] : pairs) {
    if (out.size() > 1) out += ',';
    group_text::append_json(out, key);
    out += ':';
    group_text::append_json(out, value);
  }
  return out + "}";
}

}  // namespace davit::storage
