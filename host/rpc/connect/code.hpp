// Codes as the Connect protocol and HTTP name them (connectrpc.com/docs/protocol, "Error Codes").
#pragma once

#include <optional>
#include <string_view>

#include <davit/types.hpp>

namespace davit::host {

// "not_found"; of a number that is no code "unknown".
std::string_view code_name(Code);
std::optional<Code> code_named(std::string_view name);
// The status of an answer that is an error.
int http_status(Code);
// What an answer means that is no Connect error: a proxy's, say.
Code code_of_http(int status);

}  // namespace davit::host
