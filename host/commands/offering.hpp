// Commands that ask the plugins of a configuration once, without running it (davit/offer.hpp): they
// prepare it, start the instances that offer what is asked for, with what these look up, ask each
// and stop them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

struct OfferedCommand {
  const char* name;       // "federation check"
  std::string_view role;  // RehearsalRole::id
  const char* none;       // what is said when no instance offers it
};
// Shows the answer of one instance. Returns an exit code.
using ShowAnswer = std::function<Result<int>(const std::string& answer)>;

// Returns the exit code: that of the last instance that did not end well. Errors are printed.
int run_offered(const OfferedCommand&, const std::vector<std::string>& files,
                const ShowAnswer& show);

}  // namespace davit::host
