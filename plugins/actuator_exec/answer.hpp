// The document that a program writes: sdk/schemas/actuator_output.schema.json. What cannot be read
// is an error, and never a success (rule T9). Pure.
#pragma once

#include <vector>

#include "covers.hpp"
#include "davit/actuator.hpp"

namespace davit::actuator_exec {

struct Answer {
  actuator::Outcome outcome;
  std::vector<actuator::Event> events;
};

// An INTERNAL error names what is wrong: the member, or the place. No text for people has one of
// the covered values (rule T11). The status patch is data, and stays as it is.
Result<Answer> read_answer(std::string_view output, const Covers& covers);

}  // namespace davit::actuator_exec
