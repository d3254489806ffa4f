// Status codes in the Connect protocol and in HTTP (connectrpc.com/docs/protocol, "Error Codes").
#pragma once

#include <optional>
#include <string_view>

#include <davit/types.hpp>

namespace davit::host {

// "not_found". "unknown" for a number that is not a code.
std::string_view code_name(Code);
std::optional<Code> code_named(std::string_view name);
// The HTTP status of an answer that is an error.
int http_status(Code);
// The code for an HTTP answer that is not a Connect error, for example from a proxy.
Code code_of_http(int status);

}  // namespace davit::host
