#include "request_head.hpp"

#include <algorithm>
#include <array>

#include <davit/utf8.hpp>

#include "ascii.hpp"
#include "code.hpp"
#include "end_json.hpp"
#include "envelope.hpp"
#include "timeout.hpp"
#include "wire_metadata.hpp"

namespace davit::host {

namespace {

struct ContentType {
  std::string_view name;
  Wire wire;
  Form form;
};
constexpr std::array<ContentType, 10> content_types = {{
    {"application/proto", Wire::connect_unary, Form::proto},
    {"application/json", Wire::connect_unary, Form::json},
    {"application/connect+proto", Wire::connect_stream, Form::proto},
    {"application/connect+json", Wire::connect_stream, Form::json},
    {"application/grpc", Wire::grpc, Form::proto},
    {"application/grpc+proto", Wire::grpc, Form::proto},
    {"application/grpc+json", Wire::grpc, Form::json},
    {"application/grpc-web", Wire::grpc_web, Form::proto},
    {"application/grpc-web+proto", Wire::grpc_web, Form::proto},
    {"application/grpc-web+json", Wire::grpc_web, Form::json},
}};

// The names of each protocol's headers.
struct Names {
  const char *timeout, *encoding, *accepted;
};
Names names_of(Wire wire) {
  switch (wire) {
    case Wire::connect_unary:
      return {"connect-timeout-ms", "content-encoding", "accept-encoding"};
    case Wire::connect_stream:
      return {"connect-timeout-ms", "connect-content-encoding", "connect-accept-encoding"};
    case Wire::grpc:
    case Wire::grpc_web:
      break;
  }
  return {"grpc-timeout", "grpc-encoding", "grpc-accept-encoding"};
}

bool is_connect(Wire wire) {
  return wire == Wire::connect_unary || wire == Wire::connect_stream;
}

bool fits(const ContentType& type, const Method* method) {
  if (method == nullptr || !is_connect(type.wire)) return true;
  const bool streams = method->streams_answers() || method->streams_requests();
  return streams == (type.wire == Wire::connect_stream);
}

// NULL if the type belongs to none of the protocols, or is given more than once.
const ContentType* content_type_of(const RequestHead& head) {
  const std::string key = "content-type";
  const auto is_it = [&](const auto& header) { return header.first == key; };
  if (std::count_if(head.headers.begin(), head.headers.end(), is_it) != 1) return nullptr;
  const auto& value = std::find_if(head.headers.begin(), head.headers.end(), is_it)->second;
  std::string_view parts = value;
  const std::string name = lower_case(take_element(parts, ';'));
  const auto found = std::find_if(content_types.begin(), content_types.end(),
                                  [&](const ContentType& t) { return t.name == name; });
  return found == content_types.end() ? nullptr : &*found;
}

std::string accepted_types(const Method* method) {
  std::string out;
  for (const auto& type : content_types) {
    if (fits(type, method)) out.append(out.empty() ? "" : ", ").append(type.name);
  }
  return out;
}

// Text from a caller, shortened for a message.
std::string in_quotes(std::string_view value) {
  constexpr size_t bytes_max = 64;
  return "\"" + std::string(cut_utf8(value, bytes_max)) + "\"";
}

Result<> check_version(const RequestHead& head, const Terms& terms) {
  const auto version = head.header("connect-protocol-version");
  if (!is_connect(terms.wire) || !version || *version == "1") return {};
  return Error{Code::invalid_argument,
               "connect-protocol-version " + in_quotes(*version) + " is not 1"};
}

Result<> read_timeout(const RequestHead& head, Terms& terms) {
  const char* name = names_of(terms.wire).timeout;
  const auto value = head.header(name);
  if (!value) return {};
  terms.timeout = is_connect(terms.wire) ? read_connect_timeout(*value) : read_grpc_timeout(*value);
  if (terms.timeout) return {};
  return Error{Code::invalid_argument,
               std::string(name) + " " + in_quotes(*value) + " is not " +
                   (is_connect(terms.wire) ? "a number of at most ten digits"
                                           : "at most eight digits and one of H M S m u n")};
}

// "gzip;q=0": the caller does not want this encoding.
bool is_refused(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string parameter = lower_case(take_element(parameters, ';'));
    if (parameter.size() > 2 && parameter.starts_with("q=") &&
        parameter.find_first_not_of("0.", 2) == std::string::npos) {
      return true;
    }
  }
  return false;
}

bool names_gzip(std::string_view list) {
  bool any = false;
  while (!list.empty()) {
    std::string_view parameters = take_element(list, ',');
    const std::string coding = lower_case(take_element(parameters, ';'));
    if (coding == "gzip") return !is_refused(parameters);
    if (coding == "*") any = !is_refused(parameters);
  }
  return any;
}

Result<> read_encodings(const RequestHead& head, Terms& terms) {
  const Names names = names_of(terms.wire);
  const std::string encoding = head.header(names.encoding).value_or("");
  const std::string coding = lower_case(trimmed(encoding));
  if (!coding.empty() && coding != "identity" && coding != "gzip") {
    return Error{Code::unimplemented, std::string(names.encoding) + " " + in_quotes(encoding) +
                                          " is not supported here; gzip and identity are"};
  }
  terms.compressed = coding == "gzip";
  // A caller that does not say accepts what it sends. Connect defines it so, and a gRPC caller that
  // compresses can decompress.
  const auto accepted = head.header(names.accepted);
  terms.accepts_gzip = accepted ? names_gzip(*accepted) : terms.compressed;
  return {};
}

}  // namespace

std::optional<std::string> RequestHead::header(std::string_view key) const {
  std::optional<std::string> out;
  for (const auto& [name, value] : headers) {
    if (name != key) continue;
    if (out) {
      out->append(", ").append(value);
    } else {
      out = value;
    }
  }
  return out;
}

std::variant<Terms, HttpAnswer> read_terms(const RequestHead& head, const Method* method) {
  if (head.verb != "POST") return HttpAnswer{405, {{"allow", "POST"}}, {}};
  const ContentType* type = content_type_of(head);
  if (type == nullptr || !fits(*type, method))
    return HttpAnswer{415, {{"accept-post", accepted_types(method)}}, {}};
  if (type->wire == Wire::grpc && head.http_major < 2) return HttpAnswer{505, {}, {}};

  Terms terms;
  terms.wire = type->wire;
  terms.form = type->form;
  terms.content_type = type->name;
  if (const auto r = check_version(head, terms); !r) return refusal(terms, End::of(r.error()));
  if (const auto r = read_timeout(head, terms); !r) return refusal(terms, End::of(r.error()));
  if (const auto r = read_encodings(head, terms); !r) {
    HttpAnswer answer = refusal(terms, End::of(r.error()));
    answer.headers.emplace_back(names_of(terms.wire).accepted, "gzip, identity");
    return answer;
  }
  return terms;
}

HttpAnswer refusal(const Terms& terms, const End& end) {
  HttpAnswer answer;
  switch (terms.wire) {
    case Wire::connect_unary:
      answer.status = http_status(end.code);
      answer.headers = {{"content-type", "application/json"}};
      for (const auto& [key, value] : metadata_to_wire(end.trailers))
        answer.headers.emplace_back("trailer-" + key, value);
      answer.body = error_json(end);
      break;
    case Wire::connect_stream: {
      answer.headers = {{"content-type", terms.content_type}};
      const std::string message = end_of_stream_json(end);
      const auto head = envelope_head(flag::end_of_stream, static_cast<uint32_t>(message.size()));
      answer.body.assign(head.data(), head.size()).append(message);
      break;
    }
    case Wire::grpc:
    case Wire::grpc_web:
      answer.headers = {{"content-type", terms.content_type}};
      for (auto& pair : grpc_trailers(end)) answer.headers.push_back(std::move(pair));
      break;
  }
  return answer;
}

}  // namespace davit::host
