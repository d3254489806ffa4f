// Checks what an agent sent (a progress or a status) before the recorder does anything with it:
// names, numbers and sizes. What no honest agent sends is refused with the reason. What an honest
// agent may send in trouble (ten thousand objects at fault, a message as long as a log) is cut.
// Pure.
#pragma once

#include <davit/records.hpp>

#include "limits.hpp"

namespace davit::recorder {

// Refuses a name that cannot stand in a table, a log line and a metric.
Result<> check_name(std::string_view field, std::string_view name);

// INVALID_ARGUMENT names the field. `kinds`: the kinds of this server.
Result<> admit(const Progress& said, const std::vector<std::string>& kinds, const Limits& limits);
// Cuts long texts and leaves out issues above the limits. One more issue says how many.
void cut_to(const Limits& limits, Progress& said);

// `now_unix_ms`: this server's time, by which the epoch is judged.
Result<> admit(const Status& status, const std::vector<std::string>& kinds, const Limits& limits,
               int64_t now_unix_ms);

// The checks of the status's numbers only.
Result<> admit_numbers(const Status& status, const Limits& limits, int64_t now_unix_ms);
// FAILED_PRECONDITION: the epoch is years ahead, so one of the clocks is wrong.
Result<> admit_epoch(Epoch epoch, const Limits& limits, int64_t now_unix_ms);

}  // namespace davit::recorder
