// What the caller of a change expects to be stored: the guard against lost updates. Mutations asks
// before it commits; the store compares the version once more in its transaction. Pure.
#pragma once

#include <davit/storage.hpp>

#include "decision.hpp"

namespace davit::desired {

struct Expectation {
  Version version = any_version;  // 0: no record, or a deleted one
  Incarnation incarnation{};      // in which it was read; 0: not known
  // Who asks for what is stored anyway loses nobody's update.
  bool unchanged_will_do = false;
};

// The record is as expected. `head` is the store's, and `history` is called when the version was
// read in another incarnation.
Result<bool> is_met(const Expectation& expected, const std::optional<Record>& stored,
                    const Cursor& head, const std::function<Result<History>()>& history);

// ABORTED, with what is stored instead, who changed it and when.
Error unmet(const Key& key, const Expectation& expected, const std::optional<Record>& stored);

}  // namespace davit::desired
