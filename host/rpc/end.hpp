// End says how a call ended, in the host's own types: code, message, trailers and details. It
// passes between the rules of a call, the transports and the ABI.
#pragma once

#include <string>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

// A detail of an error: an encoded message and its full type name.
struct Detail {
  std::string type, value;
};

struct End {
  Code code = Code::ok;
  std::string message;
  Pairs trailers = {};
  std::vector<Detail> details = {};

  static End from(const davit_rpc_end& e) {
    End out{static_cast<Code>(e.code), text(e.message), from_abi(e.trailers, e.trailers_count)};
    for (size_t i = 0; i < e.details_count; ++i)
      out.details.push_back({text(e.details[i].type), std::string(view(e.details[i].value))});
    return out;
  }
  static End of(const Error& e) { return {e.code, e.message}; }
};

}  // namespace davit::host
