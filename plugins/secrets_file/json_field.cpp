#include "json_field.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <cstring>

namespace davit::secrets_file {
namespace {

namespace json = boost::json;
using JsonFault = json::error_code;

// Boost.JSON keeps texts with escapes on its stack.
constexpr size_t parser_stack_bytes = 32 << 10;

// Boost.JSON calls it for each token. `depth_` 1 is inside of the outermost object.
struct FieldFinder {
  static constexpr size_t max_object_size = static_cast<size_t>(-1);
  static constexpr size_t max_array_size = static_cast<size_t>(-1);
  static constexpr size_t max_key_size = static_cast<size_t>(-1);
  static constexpr size_t max_string_size = static_cast<size_t>(-1);

  FieldFinder(std::string_view name, size_t room) : field(name), value(room) {}

  bool on_document_begin(JsonFault&) { return true; }
  bool on_document_end(JsonFault&) { return true; }
  bool on_object_begin(JsonFault&) { return open(true); }
  bool on_object_end(size_t, JsonFault&) { return close(); }
  bool on_array_begin(JsonFault&) { return open(false); }
  bool on_array_end(size_t, JsonFault&) { return close(); }
  bool on_key_part(json::string_view part, size_t, JsonFault&) { return key(part); }
  bool on_key(json::string_view part, size_t, JsonFault&) {
    if (depth == 1) {
      key(part);
      here = same && compared == field.size();
      found += here ? 1 : 0;
      same = true;
      compared = 0;
    }
    return true;
  }
  bool on_string_part(json::string_view part, size_t, JsonFault&) { return add(part); }
  bool on_string(json::string_view part, size_t, JsonFault&) { return add(part), scalar(); }
  bool on_number_part(json::string_view part, JsonFault&) { return add(part); }
  bool on_int64(int64_t, json::string_view part, JsonFault&) { return add(part), scalar(); }
  bool on_uint64(uint64_t, json::string_view part, JsonFault&) { return add(part), scalar(); }
  bool on_double(double, json::string_view part, JsonFault&) { return add(part), scalar(); }
  bool on_bool(bool is, JsonFault&) { return add(is ? "true" : "false"), scalar(); }
  bool on_null(JsonFault&) {
    if (here && depth == 1) fault = "is null";
    return scalar();
  }
  bool on_comment_part(json::string_view, JsonFault&) { return true; }
  bool on_comment(json::string_view, JsonFault&) { return true; }

  bool open(bool object) {
    if (depth == 0) is_object = object;
    if (here && depth == 1) fault = object ? "is an object" : "is an array";
    ++depth;
    return true;
  }
  bool close() {
    --depth;
    return depth == 1 ? scalar() : true;
  }
  bool key(json::string_view part) {
    if (depth != 1) return true;
    const std::string_view rest = field.substr(compared);
    same = same && part.size() <= rest.size() &&
           std::memcmp(rest.data(), part.data(), part.size()) == 0;
    if (same) compared += part.size();
    return true;
  }
  // No text of JSON is shorter than what it means, so there is room.
  bool add(json::string_view part) {
    if (!here || depth != 1 || found > 1) return true;
    std::memcpy(value.data() + size, part.data(), part.size());
    size += part.size();
    return true;
  }
  // A value has ended.
  bool scalar() {
    if (depth == 1) here = false;
    return true;
  }

  const std::string_view field;
  LockedBytes value;
  size_t size = 0, depth = 0;
  size_t compared = 0;  // bytes of the key that are those of the field
  bool same = true;
  bool here = false;  // the value that comes is the field's
  bool is_object = false;
  size_t found = 0;
  const char* fault = nullptr;
};

using FieldParser = json::basic_parser<FieldFinder>;

// How much of the text has been read. With a frame of its own, which is wiped afterwards.
[[gnu::noinline]] size_t parse(FieldParser& parser, std::string_view text, JsonFault& fault) {
  return parser.write_some(false, text.data(), text.size(), fault);
}

bool only_space(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == text.npos;
}

}  // namespace

Result<LockedBytes> json_field(std::string_view plaintext, std::string_view field) {
  FieldParser parser(json::parse_options{}, field, plaintext.size());
  JsonFault fault;
  const size_t read = parse(parser, plaintext, fault);
  sodium_stackzero(parser_stack_bytes);
  FieldFinder& finder = parser.handler();
  if (fault || !only_space(plaintext.substr(read)) || !finder.is_object)
    return Error{Code::not_found, "is no JSON object, so it has no fields"};
  if (finder.found == 0) return Error{Code::not_found, "has no such field"};
  if (finder.found > 1) return Error{Code::invalid_argument, "has the field twice"};
  if (finder.fault != nullptr)
    return Error{Code::invalid_argument, std::string("its field ") + finder.fault +
                                             ": a field has a text, a number, true or false"};
  finder.value.shorten(finder.size);
  return std::move(finder.value);
}

}  // namespace davit::secrets_file
