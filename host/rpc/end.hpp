// How a call ended, on its way through the host.
#pragma once

#include <string>

#include <davit/types.hpp>

namespace davit::host {

struct End {
  Code code = Code::ok;
  std::string message;
  Pairs trailers;

  static End from(const davit_rpc_end& e) {
    return {static_cast<Code>(e.code), text(e.message), from_abi(e.trailers, e.trailers_count)};
  }
  static End of(const Error& e) { return {e.code, e.message, {}}; }
};

}  // namespace davit::host
