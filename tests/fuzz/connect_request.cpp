// Heads, error bodies, ends of streams and trailers of a peer that means no good: terms, or an
// answer that its protocol can read; and what we write ourselves is read as it was meant.
#include <davit/utf8.hpp>

#include <algorithm>

#include "choice.hpp"
#include "require.hpp"
#include "rpc/connect/code.hpp"
#include "rpc/connect/end_json.hpp"
#include "rpc/connect/envelope.hpp"
#include "rpc/connect/request_head.hpp"
#include "rpc/connect/timeout.hpp"

namespace {

using namespace davit;
using host::End;
using host::HttpAnswer;
using host::Terms;
using host::Wire;

// Takes a line off the text.
std::string_view line_of(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// "POST /path 2", then "name: value" each.
host::RequestHead to_head(std::string_view text) {
  host::RequestHead head;
  std::string_view first = line_of(text);
  head.verb = first.substr(0, first.find(' '));
  head.http_major = first.ends_with(" 1") ? 1 : 2;
  while (!text.empty()) {
    const std::string_view line = line_of(text);
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    head.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  return head;
}

void require_sendable(const HttpAnswer& answer) {
  for (const auto& [name, value] : answer.headers) {
    const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
    fuzz::require(!name.empty() && std::all_of(value.begin(), value.end(), printable),
                  "a header can be sent", name + ": " + value);
    fuzz::require(!value.starts_with(' ') && !value.ends_with(' '), "and is not trimmed", value);
  }
}

// How the call ended, as a caller of the protocol reads it.
End read_refusal(Wire wire, const HttpAnswer& answer) {
  if (wire == Wire::connect_unary) return host::read_error_json(answer.status, answer.body);
  fuzz::require(answer.status == 200, "only Connect unary speaks by HTTP status");
  if (wire != Wire::connect_stream) return host::read_grpc_trailers(answer.headers);
  host::EnvelopeReader reader(host::flag::end_of_stream, 1 << 20);
  reader.feed(answer.body);
  const auto message = reader.next();
  fuzz::require(message && message->ok() && reader.at_a_boundary(), "one whole message");
  const auto end = host::read_end_of_stream((*message)->message);
  fuzz::require(end.ok(), "the end that we write is one", (*message)->message);
  return *end;
}

// The same for every protocol: code and message arrive, and the trailers that can be sent.
void check_refusal(Terms terms, const End& end) {
  for (const Wire wire : {Wire::connect_unary, Wire::connect_stream, Wire::grpc, Wire::grpc_web}) {
    terms.wire = wire;
    const HttpAnswer answer = host::refusal(terms, end);
    require_sendable(answer);
    const End back = read_refusal(wire, answer);
    fuzz::require(back.code == end.code, "the code arrives", host::code_name(end.code));
    if (valid_utf8(end.message) && end.message.size() <= 2'048)
      fuzz::require(back.message == end.message, "the message arrives", end.message);
  }
}

void on_head(std::string_view text) {
  const host::RequestHead head = to_head(text);
  host::Method unary, stream;
  stream.streaming = DAVIT_RPC_SERVER_STREAMS;
  for (const host::Method* method : {&unary, &stream, static_cast<host::Method*>(nullptr)}) {
    const auto read = host::read_terms(head, method);
    if (const auto* answer = std::get_if<HttpAnswer>(&read)) {
      require_sendable(*answer);
      continue;
    }
    const auto& terms = std::get<Terms>(read);
    fuzz::require(head.verb == "POST", "only POST is a call");
    fuzz::require(
        !terms.timeout || (terms.timeout->count() >= 0 && *terms.timeout <= host::timeout_max),
        "a timeout is one");
    if (method != nullptr && terms.wire == Wire::connect_unary)
      fuzz::require(method == &unary, "a stream is none of unary's");
    fuzz::require(terms.wire != Wire::grpc || head.http_major == 2, "gRPC has HTTP/2");
    check_refusal(terms, {Code::not_found, std::string(text), head.headers});
  }
}

// The first byte is the code.
void on_end(std::string_view input) {
  if (input.empty()) return;
  const auto code = static_cast<Code>(static_cast<uint8_t>(input.front()) % 16 + 1);
  const std::string message(line_of(input = input.substr(1)));
  const End end{code, message, to_head("\n" + std::string(input)).headers};
  Terms terms;
  terms.content_type = "application/grpc";
  check_refusal(terms, end);

  const auto once = host::read_end_of_stream(host::end_of_stream_json(end));
  const auto twice = host::read_end_of_stream(host::end_of_stream_json(*once));
  fuzz::require(twice.ok() && twice->trailers == once->trailers, "trailers survive JSON");
  fuzz::require(host::read_grpc_trailers(host::grpc_trailers(*once)).trailers == once->trailers,
                "trailers survive gRPC");
  size_t lines = 0;
  std::string block = host::web_trailers(end);
  fuzz::require(block.ends_with("\r\n"), "a block of trailers is whole lines");
  for (std::string_view rest = block; !rest.empty(); ++lines) line_of(rest);
  fuzz::require(lines == host::grpc_trailers(end).size(), "one line a trailer", block);
}

void on_body(std::string_view body) {
  for (const int status : {200, 400, 404, 503}) {
    const End end = host::read_error_json(status, body);
    fuzz::require(end.code != Code::ok, "an error is never OK", body);
    fuzz::require(valid_utf8(end.message), "its message is a text", end.message);
    const End back = host::read_error_json(status, host::error_json(end));
    fuzz::require(back.code == end.code && back.message == end.message, "an error comes back");
  }
  const auto end = host::read_end_of_stream(body);
  if (!fuzz::no_bug(end, "end of stream").ok()) return;
  const auto back = host::read_end_of_stream(host::end_of_stream_json(*end));
  fuzz::require(back.ok(), "the end that we write is one", host::end_of_stream_json(*end));
  fuzz::require(back->code == end->code, "its code comes back");
  if (end->code != Code::ok)
    fuzz::require(back->message == end->message, "its message comes back", end->message);
}

void on_percent(std::string_view text) {
  const std::string encoded = host::percent_encoded(text);
  fuzz::require(host::percent_decoded(encoded) == text, "every message comes back", encoded);
  fuzz::require(host::percent_decoded(text).size() <= text.size(), "decoding adds nothing");
}

void on_trailers(std::string_view text) {
  const Pairs pairs = to_head("\n" + std::string(text)).headers;
  const End end = host::read_grpc_trailers(pairs);
  const auto number = static_cast<int>(end.code);
  fuzz::require(number >= 0 && number <= 16, "a code is one");
  const bool stated = std::any_of(pairs.begin(), pairs.end(),
                                  [](const auto& p) { return p.first == "grpc-status"; });
  fuzz::require(stated || end.code == Code::unknown, "no status, no success");
}

// Eight bytes: a time.
void on_timeout(std::string_view input) {
  if (input.size() < 8) return;
  int64_t n = 0;
  std::memcpy(&n, input.data(), sizeof n);
  const std::chrono::nanoseconds timeout(n);
  const std::string text = host::grpc_timeout(timeout);
  const auto back = host::read_grpc_timeout(text);
  fuzz::require(back.has_value(), "the timeout that we write is one", text);
  fuzz::require(timeout >= host::timeout_max || *back >= timeout, "it is rounded up", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [entry, rest] = fuzz::choose(data, size);
  if (entry == "head") on_head(rest);
  if (entry == "end") on_end(rest);
  if (entry == "body") on_body(rest);
  if (entry == "percent") on_percent(rest);
  if (entry == "trailers") on_trailers(rest);
  if (entry == "timeout") on_timeout(rest);
  return 0;
}
