// Decides what a request changes of one record, given the stored record. Pure. Mutations reads the
// record, asks for the decision and commits it. When somebody else changed the record in between,
// Mutations reads it and asks again.
#pragma once

#include <functional>

#include <davit/records.hpp>

namespace davit::desired {

// What becomes of one document or key, as v1::Outcome::Type.
enum class OutcomeType : uint8_t {
  undecided,
  created,
  changed,
  unchanged,
  applied,  // unchanged, and committed with a new version on request
  deleted,
  absent,  // there was nothing to delete
  refused
};
// The word for people and for the role records: "created". Empty: undecided.
const char* word_of(OutcomeType type);

// The result of one document or key.
struct Outcome {
  Key key;
  OutcomeType type = OutcomeType::undecided;
  Version version{};
  std::optional<Error> error;  // refused only
  std::string note{};          // more for the operator to know; may be empty
  Incarnation incarnation{};   // in which the version was given or read
  // Of a dry run that would commit something: what is stored, unless that is deleted or nothing,
  // and what would be.
  std::optional<Record> before{}, after{};
};

struct Decision {
  OutcomeType type = OutcomeType::undecided;
  Version version{};                 // the stored version, when there is nothing to commit
  std::optional<Mutation> mutation;  // to be committed before `type` holds
  std::optional<Error> error;        // refused only
  std::string note{};                // for the outcome
};
using Decide = std::function<Decision(const std::optional<Record>& stored)>;

// True: both payloads mean the same.
using SamePayload = std::function<bool(std::string_view, std::string_view)>;

// There is no such record, or what is stored says that it was deleted.
bool is_absent(const std::optional<Record>& stored);

// `again`: an unchanged record is committed with a new version (`applied`).
Decision decide_apply(const Record& wanted, const std::optional<Record>& stored,
                      const SamePayload& same, bool again = false);
// A deleted record stays as a tombstone with its payload, so that agents hear of the delete.
// `orphan`: an agent shows an object of this key as orphaned; NULL: none does. When no live record
// has the key, a new tombstone is made for the orphan, and the agent removes the object.
Decision decide_delete(const Key& key, const std::optional<Record>& stored,
                       const std::string& author, const Issue* orphan = nullptr);

}  // namespace davit::desired
