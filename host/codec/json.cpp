#include "json.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>

namespace davit::host {

namespace {

using boost::json::error_code;
using Text = boost::json::string_view;

// Builds a Json from the events of Boost's parser, which checks syntax, UTF-8 and depth.
struct Builder {
  static constexpr size_t max_object_size = SIZE_MAX;  // values_max is the limit
  static constexpr size_t max_array_size = SIZE_MAX;
  static constexpr size_t max_key_size = Json::bytes_max;
  static constexpr size_t max_string_size = Json::bytes_max;

  std::vector<Json> open;  // arrays and objects that have not ended yet
  Json root;
  std::string part;
  size_t values = 0;

  bool add(Json value, error_code& ec) {
    if (++values > Json::values_max) {
      ec = boost::json::error::array_too_large;
      return false;
    }
    if (open.empty()) {
      root = std::move(value);
    } else {
      open.back().items.push_back(std::move(value));
    }
    return true;
  }
  bool end(error_code& ec) {
    Json done = std::move(open.back());
    open.pop_back();
    return add(std::move(done), ec);
  }
  bool number(Text s, error_code& ec) {
    Json j;
    j.type = Json::Type::number;
    j.text = std::exchange(part, {});
    j.text.append(s.data(), s.size());
    return add(std::move(j), ec);
  }
  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_array_begin(error_code&) {
    open.emplace_back().type = Json::Type::array;
    return true;
  }
  bool on_array_end(size_t, error_code& ec) { return end(ec); }
  bool on_object_begin(error_code&) {
    open.emplace_back().type = Json::Type::object;
    return true;
  }
  bool on_object_end(size_t, error_code& ec) { return end(ec); }
  bool on_string_part(Text s, size_t, error_code&) {
    part.append(s.data(), s.size());
    return true;
  }
  bool on_string(Text s, size_t, error_code& ec) {
    Json j;
    j.type = Json::Type::string;
    j.text = std::exchange(part, {});
    j.text.append(s.data(), s.size());
    return add(std::move(j), ec);
  }
  bool on_key_part(Text s, size_t, error_code&) {
    part.append(s.data(), s.size());
    return true;
  }
  bool on_key(Text s, size_t, error_code&) {
    std::string key = std::exchange(part, {});
    key.append(s.data(), s.size());
    open.back().keys.push_back(std::move(key));
    return true;
  }
  bool on_number_part(Text s, error_code&) {
    part.append(s.data(), s.size());
    return true;
  }
  bool on_int64(int64_t, Text s, error_code& ec) { return number(s, ec); }
  bool on_uint64(uint64_t, Text s, error_code& ec) { return number(s, ec); }
  bool on_double(double, Text s, error_code& ec) { return number(s, ec); }
  bool on_bool(bool b, error_code& ec) {
    Json j;
    j.type = Json::Type::boolean;
    j.truth = b;
    return add(std::move(j), ec);
  }
  bool on_null(error_code& ec) { return add({}, ec); }
  bool on_comment_part(Text, error_code&) { return true; }
  bool on_comment(Text, error_code&) { return true; }
};

Error syntax_error(std::string_view text, size_t at, const std::string& what) {
  at = std::min(at, text.size());
  const std::string_view before = text.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t newline = before.rfind('\n');
  const size_t column = newline == std::string_view::npos ? at + 1 : at - newline;
  return {Code::invalid_argument, "not valid JSON at line " + std::to_string(line) + ", column " +
                                      std::to_string(column) + ": " + what};
}

// The last of duplicate keys counts, as in all common readers.
std::vector<std::pair<std::string_view, const Json*>> sorted_members(const Json& object) {
  std::vector<std::pair<std::string_view, const Json*>> out;
  out.reserve(object.items.size());
  for (size_t i = 0; i < object.items.size(); ++i)
    out.emplace_back(object.keys[i], &object.items[i]);
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::pair<std::string_view, const Json*>> unique;
  unique.reserve(out.size());
  for (const auto& member : out) {
    if (!unique.empty() && unique.back().first == member.first) unique.pop_back();
    unique.push_back(member);
  }
  return unique;
}

}  // namespace

Result<Json> Json::parse(std::string_view text) {
  if (text.size() > bytes_max) {
    return Error{Code::invalid_argument, "JSON of " + std::to_string(text.size()) +
                                             " bytes is larger than the limit of " +
                                             std::to_string(bytes_max)};
  }
  boost::json::parse_options options;
  options.max_depth = depth_max;
  boost::json::basic_parser<Builder> parser(options);
  error_code ec;
  const size_t used = parser.write_some(false, text.data(), text.size(), ec);
  if (!ec && used < text.size()) {
    const size_t rest = text.find_first_not_of(" \t\r\n", used);
    if (rest != std::string_view::npos) return syntax_error(text, rest, "text after the end");
  }
  if (ec) {
    if (parser.handler().values > values_max) {
      return Error{Code::invalid_argument,
                   "JSON has more than " + std::to_string(values_max) + " values"};
    }
    return syntax_error(text, used, ec.message());
  }
  return std::move(parser.handler().root);
}

const char* Json::type_name() const {
  switch (type) {
    case Type::null:
      return "null";
    case Type::boolean:
      return truth ? "true" : "false";
    case Type::number:
      return "a number";
    case Type::string:
      return "a string";
    case Type::array:
      return "an array";
    case Type::object:
      return "an object";
  }
  return "?";
}

const Json* Json::find(std::string_view key) const {
  for (size_t i = keys.size(); i > 0; --i) {
    if (keys[i - 1] == key) return &items[i - 1];
  }
  return nullptr;
}

void Json::write(std::string& out) const {
  switch (type) {
    case Type::null:
      out += "null";
      return;
    case Type::boolean:
      out += truth ? "true" : "false";
      return;
    case Type::number:
      out += text;
      return;
    case Type::string:
      write_json_string(text, out);
      return;
    case Type::array:
    case Type::object:
      break;
  }
  out += type == Type::array ? '[' : '{';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    if (type == Type::object) {
      write_json_string(keys[i], out);
      out += ':';
    }
    items[i].write(out);
  }
  out += type == Type::array ? ']' : '}';
}

void write_json_string(std::string_view text, std::string& out) {
  constexpr char hex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += hex[static_cast<unsigned char>(c) >> 4];
          out += hex[static_cast<unsigned char>(c) & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

bool same_json(const Json& a, const Json& b) {
  if (a.type != b.type) return false;
  switch (a.type) {
    case Json::Type::null:
      return true;
    case Json::Type::boolean:
      return a.truth == b.truth;
    case Json::Type::string:
      return a.text == b.text;
    case Json::Type::number: {
      Decimal x, y;
      return a.text == b.text || (decimal(a.text, x) && decimal(b.text, y) && x == y);
    }
    case Json::Type::array:
      return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_json);
    case Json::Type::object:
      break;
  }
  const auto x = sorted_members(a), y = sorted_members(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& m, const auto& n) {
    return m.first == n.first && same_json(*m.second, *n.second);
  });
}

}  // namespace davit::host
