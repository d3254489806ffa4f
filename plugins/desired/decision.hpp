// What a request makes of one record, given what is stored now. Pure: Mutations reads, asks this,
// commits, and asks again with what it reads then when somebody was faster.
#pragma once

#include <functional>

#include <davit/records.hpp>

namespace davit::desired {

// What became of one document or key; the words are those of the wire.
struct Outcome {
  Key key;
  std::string word;  // created, changed, unchanged, applied, deleted, absent, refused
  uint64_t version = 0;
  std::optional<Error> error;  // of refused
  std::string note{};          // what more there is to know; may be empty
};

struct Decision {
  std::string word;
  uint64_t version = 0;              // of what is stored, when nothing is to be done
  std::optional<Mutation> mutation;  // commit this first
  std::optional<Error> error;        // of refused
  std::string note{};                // for the outcome
};
using Decide = std::function<Decision(const std::optional<Record>& stored)>;

// True when both payloads mean the same.
using SamePayload = std::function<bool(std::string_view, std::string_view)>;

// `again`: what is stored as it stands is committed once more ("applied").
Decision decide_apply(const Record& wanted, const std::optional<Record>& stored,
                      const SamePayload& same, bool again = false);
// A deleted record stays as a tombstone with its payload, so that agents hear of it. `orphan`: what
// an agent found of the key that no record names; NULL: nothing. Then a tombstone is made that says
// so, and the agent removes it.
Decision decide_delete(const Key& key, const std::optional<Record>& stored,
                       const std::string& author, const Issue* orphan = nullptr);

}  // namespace davit::desired
