// A case that the runner gives to a client under test, and its outcome
// (connectrpc/conformance/v1/client_compat.proto).
#pragma once

#include "messages.hpp"

namespace davit::suite {

// When to cancel; at most one is set.
struct Cancel {
  bool before_close_send = false;
  std::optional<std::chrono::milliseconds> after_close_send;
  size_t after_responses = 0;

  bool any() const { return before_close_send || after_close_send || after_responses > 0; }
};

struct Case {
  std::string name;
  // Where to, and how.
  std::string host;
  uint64_t port = 0;
  std::string server_certificate;              // PEM; empty: no TLS
  std::string client_certificate, client_key;  // PEM; or empty
  uint64_t response_bytes_max = 0;             // 0: no limit
  // What to call.
  std::string path;
  bool answers_stream = false;
  uint32_t streaming = 0;   // DAVIT_RPC_..._STREAMS
  bool alternates = false;  // each request waits for the answer to the one before
  Pairs headers;
  std::vector<std::string> messages;
  std::optional<std::chrono::milliseconds> timeout;
  std::chrono::milliseconds delay{0};  // before each request
  Cancel cancel;

  // Whether the client means to give the call up before it is answered. The suite's timeouts are of
  // 200 ms, to run out, and of 2 s, to be told to the server.
  bool ends_early() const {
    return cancel.any() || (timeout && *timeout < std::chrono::seconds(1));
  }
};
Case read_case(std::string_view message);

struct Outcome {
  std::vector<std::string> payloads;  // each a ConformancePayload
  std::optional<Fault> error;
  Pairs headers, trailers;
  size_t unsent = 0;
};
// The ClientCompatResponse.
std::string to_bytes(const Case&, const Outcome&);
// The ClientCompatResponse of a case that could not be tried.
std::string not_tried(const Case&, std::string_view why);

}  // namespace davit::suite
