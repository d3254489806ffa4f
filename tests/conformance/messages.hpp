// The suite's messages that both ends need (connectrpc/conformance/v1/service.proto), as plain
// values.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

#include "wire.hpp"

namespace davit::suite {

inline constexpr std::string_view package = "connectrpc.conformance.v1.";

// A Header has a name and several values; here it is a pair for each of them, the name in lower
// case.
void read_header(std::string_view message, Pairs& out);
// One Header for each name.
void write_headers(Writer&, uint32_t field, const Pairs&);

// An Error. Its details are Any messages.
struct Fault {
  Code code = Code::unknown;
  std::optional<std::string> message;
  std::vector<std::string> details;
};
Fault read_fault(std::string_view message);
std::string to_bytes(const Fault&);

// An Any of a message of the suite's package.
std::string any(std::string_view type, std::string_view message);

// How the server is to answer: UnaryResponseDefinition, with at most one `data`, or
// StreamResponseDefinition.
struct Definition {
  Pairs headers, trailers;
  std::vector<std::string> data;
  std::optional<Fault> error;
  std::chrono::milliseconds delay{0};
};

// What a request of any of the methods says. Only the first of a call counts.
struct Request {
  std::optional<Definition> definition;
  bool full_duplex = false;
};
Request read_request(std::string_view message, bool answers_stream);

}  // namespace davit::suite
