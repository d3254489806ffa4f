#include "end_json.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <davit/base64.hpp>
#include <davit/utf8.hpp>

#include "ascii.hpp"
#include "code.hpp"
#include "services/characters.hpp"
#include "wire_metadata.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

// Parsed JSON takes many times its size. A real end is smaller than this.
constexpr size_t body_bytes_max = 1 << 20;

// JSON is UTF-8. Invalid bytes become U+FFFD.
std::string as_utf8(std::string_view s) {
  if (valid_utf8(s)) return std::string(s);
  std::string out;
  while (!s.empty()) {
    const size_t length = character_length(s);
    out += length > 0 ? s.substr(0, length) : replacement_character;
    s.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

json::string to_json(std::string_view s) {
  return json::string(s.data(), s.size());
}
std::string_view text_of(const json::string& s) {
  return {s.data(), s.size()};
}

json::object error_object(const End& end) {
  json::object out;
  out.emplace("code", to_json(code_name(end.code == Code::ok ? Code::unknown : end.code)));
  if (!end.message.empty()) out.emplace("message", to_json(as_utf8(end.message)));
  json::array details;
  for (const Detail& d : end.details) {
    details.push_back(
        json::object{{"type", to_json(d.type)}, {"value", to_json(unpadded_base64(d.value))}});
  }
  if (!details.empty()) out.emplace("details", std::move(details));
  return out;
}

// The details of a received error. Malformed ones are left out.
std::vector<Detail> details_in(const json::object& error) {
  std::vector<Detail> out;
  const json::value* list = error.if_contains("details");
  if (list == nullptr || !list->is_array()) return out;
  for (const json::value& entry : list->get_array()) {
    const json::object* object = entry.if_object();
    if (object == nullptr) continue;
    const json::value* type = object->if_contains("type");
    const json::value* value = object->if_contains("value");
    if (type == nullptr || !type->is_string() || value == nullptr || !value->is_string()) continue;
    const std::string name(text_of(type->get_string()));
    if (auto bytes = from_base64(text_of(value->get_string())))
      out.push_back({name.substr(name.rfind('/') + 1), std::move(*bytes)});
  }
  return out;
}

std::optional<json::object> parse_object(std::string_view body) {
  if (body.size() > body_bytes_max) return std::nullopt;
  json::error_code fault;
  json::value value = json::parse({body.data(), body.size()}, fault);
  if (fault || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

// A member that is a string. Empty if absent or null; nullopt if it is something else.
std::optional<std::string> text_member(const json::object& object, const char* key) {
  const json::value* member = object.if_contains(key);
  if (member == nullptr || member->is_null()) return "";
  const json::string* text = member->if_string();
  if (text == nullptr) return std::nullopt;
  return std::string(text_of(*text));
}

// Code and message of a received error. nullopt if either is not a string.
struct Said {
  std::string code, message;
};
std::optional<Said> said_in(const json::object& object) {
  auto code = text_member(object, "code");
  auto message = text_member(object, "message");
  if (!code || !message) return std::nullopt;
  return Said{std::move(*code), std::move(*message)};
}

std::optional<Pairs> metadata_in(const json::object& object) {
  Pairs out;
  for (const auto& [name, values] : object) {
    const json::array* list = values.if_array();
    if (list == nullptr) return std::nullopt;
    for (const json::value& value : *list) {
      const json::string* text = value.if_string();
      if (text == nullptr) return std::nullopt;
      out.emplace_back(std::string(name), text_of(*text));
    }
  }
  return metadata_from_wire(out);
}

Error no_end(const char* why) {
  return {Code::invalid_argument, std::string("not the end of a stream: ") + why};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string error_json(const End& end) {
  return json::serialize(error_object(end));
}

End read_error_json(int status, std::string_view body) {
  End out{code_of_http(status), "HTTP status " + std::to_string(status)};
  const auto object = parse_object(body);
  if (!object) return out;
  const auto said = said_in(*object);
  if (!said) return out;
  const auto code = code_named(said->code);
  if (code) out.code = *code;
  if (code || !said->message.empty()) out.message = said->message;
  out.details = details_in(*object);
  return out;
}

std::string end_of_stream_json(const End& end) {
  json::object out;
  if (end.code != Code::ok) out.emplace("error", error_object(end));
  json::object metadata;
  for (const auto& [name, value] : metadata_to_wire(end.trailers)) {
    json::value& values = metadata[{name.data(), name.size()}];
    if (values.is_null()) values.emplace_array();
    values.get_array().emplace_back(to_json(value));
  }
  if (!metadata.empty()) out.emplace("metadata", std::move(metadata));
  return json::serialize(out);
}

Result<End> read_end_of_stream(std::string_view body) {
  const auto object = parse_object(body);
  if (!object) return no_end("no JSON object");
  End out;
  const json::value* error = object->if_contains("error");
  if (error != nullptr && !error->is_null()) {
    if (!error->is_object()) return no_end("the error is not an object");
    auto said = said_in(error->get_object());
    if (!said) return no_end("the error is not one");
    // An error with an unknown code is still an error.
    out.code = code_named(said->code).value_or(Code::unknown);
    out.message = std::move(said->message);
    out.details = details_in(error->get_object());
  }
  const json::value* metadata = object->if_contains("metadata");
  if (metadata == nullptr || metadata->is_null()) return out;
  if (!metadata->is_object()) return no_end("the metadata is not an object");
  auto trailers = metadata_in(metadata->get_object());
  if (!trailers) return no_end("a value of the metadata is not a list of strings");
  out.trailers = std::move(*trailers);
  return out;
}

std::string percent_encoded(std::string_view s) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size(); ++i) {
    const auto c = static_cast<unsigned char>(s[i]);
    // HTTP strips spaces around a value, and some peers refuse a header that has them.
    const bool outer_space = c == ' ' && (i == 0 || i + 1 == s.size());
    if (c >= ' ' && c <= '~' && c != '%' && !outer_space) {
      out += s[i];
    } else {
      out += {'%', digits[c >> 4], digits[c & 15]};
    }
  }
  return out;
}

std::string percent_decoded(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size(); ++i) {
    const int high = s[i] == '%' && i + 2 < s.size() ? hex_digit(s[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(s[i + 2]) : -1;
    if (low < 0) {
      out += s[i];
    } else {
      out += static_cast<char>(high << 4 | low);
      i += 2;
    }
  }
  return out;
}

}  // namespace davit::host
