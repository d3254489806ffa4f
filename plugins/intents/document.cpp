#include "document.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/stream_parser.hpp>

namespace davit::intents {

namespace {

namespace json = boost::json;

// As large as an operator's document may be.
constexpr size_t bytes_max = 3 << 20;

Error bad(std::string_view where, std::string message) {
  return {Code::invalid_argument, std::move(message), std::string(where)};
}

Result<> text_member(std::string_view name, const json::value& value, std::string& out) {
  if (!value.is_string()) return bad(name, "must be a string");
  out = value.get_string();
  return {};
}

Result<> annotations_member(const json::value& value, Pairs& out) {
  if (!value.is_object()) return bad("annotations", "must be an object");
  for (const auto& [key, content] : value.get_object()) {
    auto& annotation = out.emplace_back(key, "");
    auto read = text_member("annotations." + annotation.first, content, annotation.second);
    if (!read.ok()) return read;
  }
  return {};
}

Result<> expect_member(const json::value& value, Version& out) {
  boost::system::error_code error;
  const auto number = value.is_number() ? value.to_number<uint64_t>(error) : uint64_t{UINT64_MAX};
  if (error || value.is_double() || number > INT64_MAX)
    return bad("expect", "must be a version, or 0 when there must be no such record");
  out = Version(number);
  return {};
}

Result<> member(std::string_view name, const json::value& value, records::Document& out) {
  if (name == "kind") return text_member(name, value, out.key.kind);
  if (name == "region") return text_member(name, value, out.key.region);
  if (name == "id") return text_member(name, value, out.key.id);
  if (name == "state") return text_member(name, value, out.state);
  if (name == "annotations") return annotations_member(value, out.annotations);
  if (name == "expect") return expect_member(value, out.expect);
  if (name == "spec") {
    if (!value.is_object()) return bad(name, "must be an object");
    out.spec = json::serialize(value);
    return {};
  }
  if (name == "delete") {
    if (!value.is_bool()) return bad(name, "must be true or false");
    out.remove = value.get_bool();
    return {};
  }
  return bad(name,
             "unknown member (known are kind, region, id, state, annotations, spec, delete and "
             "expect)");
}

}  // namespace

Result<records::Document> parse_document(std::string_view text) {
  if (text.size() > bytes_max) return bad("", "is larger than 3 MiB");
  json::stream_parser parser;
  boost::system::error_code error;
  const size_t read = parser.write_some(text.data(), text.size(), error);
  if (!error && read < text.size()) error = json::error::extra_data;
  if (!error) parser.finish(error);
  if (error)
    return bad("", "is not JSON: " + error.message() + ", at byte " + std::to_string(read + 1));
  const json::value document = parser.release();
  if (!document.is_object()) return bad("", "must be a JSON object with kind, region and spec");
  records::Document out;
  for (const auto& [name, value] : document.get_object()) {
    if (auto r = member(name, value, out); !r.ok()) return r.error();
  }
  return out;
}

}  // namespace davit::intents
