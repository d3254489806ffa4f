// Whether an agent's words can be taken, before anything is done with them: what they name, and how
// much they say. What no honest agent says is refused with the reason; what an unlucky one may say
// (ten thousand objects at fault, a message as long as a log) is cut. Pure.
#pragma once

#include <davit/records.hpp>

#include "limits.hpp"

namespace davit::recorder {

// Names of agents are shown in tables, log lines and metrics.
Result<> check_name(std::string_view field, std::string_view name);

// INVALID_ARGUMENT names the field. `kinds`: those of this server.
Result<> admit(const Progress& said, const std::vector<std::string>& kinds, const Limits& limits);
// Cuts what is too long, and leaves out the issues above the limit: one more says how many.
void cut_to(const Limits& limits, Progress& said);

// `now_unix_ms`: of this server, by which the epoch is judged.
Result<> admit(const Status& status, const std::vector<std::string>& kinds, const Limits& limits,
               int64_t now_unix_ms);

// Of these, only what is a number.
Result<> admit_numbers(const Status& status, const Limits& limits, int64_t now_unix_ms);
// FAILED_PRECONDITION: the clocks are years apart.
Result<> admit_epoch(uint64_t epoch, const Limits& limits, int64_t now_unix_ms);

}  // namespace davit::recorder
