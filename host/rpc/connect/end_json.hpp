// Encodes and decodes the end of a call: as JSON of the Connect protocol, and as the text of the
// grpc-message trailer. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "../end.hpp"

namespace davit::host {

// {"code":"not_found","message":"..."}: the body of a unary answer that is an error.
std::string error_json(const End&);
// The end that an answer with this HTTP status and body means. If the body is not an error or has
// no known code, the code follows from the status.
End read_error_json(int status, std::string_view body);

// {"error":{...},"metadata":{"retry-after-ms":["1000"]}}: the last message of a stream. An end that
// is OK has no error.
std::string end_of_stream_json(const End&);
// INVALID_ARGUMENT if `body` is not such a message.
Result<End> read_end_of_stream(std::string_view body);

// grpc-message: '%', bytes that are not printable ASCII, and spaces at either end are written as
// %XX. A malformed %XX is read unchanged.
std::string percent_encoded(std::string_view);
std::string percent_decoded(std::string_view);

}  // namespace davit::host
