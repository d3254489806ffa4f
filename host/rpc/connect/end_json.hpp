// How a call's end stands in the JSON of the Connect protocol, and in a gRPC trailer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "../end.hpp"

namespace davit::host {

// {"code":"not_found","message":"..."}: the body of a unary answer that is an error.
std::string error_json(const End&);
// What an answer with this HTTP status and body means. A body that is no error, or names no code,
// leaves what the status says.
End read_error_json(int status, std::string_view body);

// {"error":{...},"metadata":{"retry-after-ms":["1000"]}}: the last message of a stream. An end that
// is OK has no error.
std::string end_of_stream_json(const End&);
// INVALID_ARGUMENT: it is not one.
Result<End> read_end_of_stream(std::string_view body);

// grpc-message: bytes that are not printable ASCII, and '%', as %XX. A malformed %XX stays as it
// is.
std::string percent_encoded(std::string_view);
std::string percent_decoded(std::string_view);

}  // namespace davit::host
