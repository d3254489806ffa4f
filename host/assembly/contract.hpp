// What the host demands of each role's table before anybody calls it: which slots must be there,
// and which numbers make sense. contract.cpp has the one list of roles and slots. `davit check` and
// `davit run` judge every table by it, and RoleProxy stands between the caller and these slots.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

#include "runtime/step.hpp"

namespace davit::host {

using AnySlot = void (*)();

struct Slot {
  const char* name;   // "storage.commit"
  size_t offset = 0;  // in the table
  bool required = true;
  AnySlot forward = nullptr;  // the same slot of a RoleProxy
};

struct Contract {
  std::string_view id;                 // "davit.storage/1"
  size_t size = 0;                     // of the table, as this host knows it
  Step::Kind kind = Step::Kind::call;  // of its calls
  std::vector<Slot> slots;
  // Judges what is not a slot, and calls slots that are legal from create on. May be NULL. The
  // slots have been judged before.
  Result<> (*judge)(davit_instance*, const void* table) = nullptr;
};

// nullptr: this host does not know the interface, and hands its tables on as they are.
const Contract* contract_of(std::string_view id);
const std::vector<Contract>& contracts();

// The function in a slot; nullptr: it is NULL, or the table ends before it.
AnySlot slot_in(const void* table, const Slot&);

// FAILED_PRECONDITION says what the table lacks. [main]
Result<> judge(const Contract&, davit_instance*, const void* table);

}  // namespace davit::host
