#include "yaml.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <optional>

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

namespace davit::host {

namespace {

namespace json = boost::json;

// Limits what aliases can multiply, and the depth of the stack.
constexpr size_t nodes_max = 1'000'000;
constexpr int depth_max = 64;

struct Fault {
  int line;
  std::string message;
};

template <class Number>
std::optional<Number> whole(std::string_view text, int base = 10) {
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

bool looks_real(std::string_view s) {
  if (!s.empty() && (s.front() == '-' || s.front() == '+')) s.remove_prefix(1);
  const size_t digits = s.find_first_not_of("0123456789");
  if (s.empty() || s.find_first_of("0123456789") == std::string_view::npos) return false;
  return digits != std::string_view::npos &&
         s.find_first_not_of("0123456789.eE+-") == std::string_view::npos &&
         (s.front() == '.' || (s.front() >= '0' && s.front() <= '9'));
}

// Reads a plain scalar by the core schema of YAML 1.2.
json::value plain(const std::string& s) {
  if (s.empty() || s == "~" || s == "null" || s == "Null" || s == "NULL") return nullptr;
  if (s == "true" || s == "True" || s == "TRUE") return true;
  if (s == "false" || s == "False" || s == "FALSE") return false;
  std::string_view digits = s;
  if (digits.front() == '+') digits.remove_prefix(1);
  if (auto n = whole<int64_t>(digits)) return *n;
  if (auto n = whole<uint64_t>(digits)) return *n;
  if (digits.substr(0, 2) == "0x") {
    if (auto n = whole<uint64_t>(digits.substr(2), 16)) return *n;
  }
  if (digits.substr(0, 2) == "0o") {
    if (auto n = whole<uint64_t>(digits.substr(2), 8)) return *n;
  }
  if (looks_real(s)) {
    double value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && end == digits.data() + digits.size()) return value;
  }
  return json::value(json::string(s));
}

class Reader {
 public:
  YamlDocument read(const YAML::Node& node) {
    YamlDocument out;
    lines_ = &out.lines;
    out.value = convert(node, "", line_of(node), 0);
    return out;
  }

 private:
  static int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

  json::value convert(const YAML::Node& node, const std::string& path, int line, int depth) {
    (*lines_)[path] = line;
    if (++nodes_ > nodes_max)
      throw Fault{line, "has more than " + std::to_string(nodes_max) + " values"};
    if (depth > depth_max)
      throw Fault{line, "is nested deeper than " + std::to_string(depth_max) + " levels"};
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        // The tag of a plain scalar is "?", that of a quoted one "!".
        return node.Tag() == "?" || node.Tag().empty() ? plain(node.Scalar())
                                                       : json::value(json::string(node.Scalar()));
      case YAML::NodeType::Sequence: {
        json::array out;
        for (const auto& item : node) {
          out.push_back(convert(item, path + "[" + std::to_string(out.size()) + "]", line_of(item),
                                depth + 1));
        }
        return out;
      }
      case YAML::NodeType::Map: {
        json::object out;
        for (const auto& entry : node) {
          const int at = line_of(entry.first);
          if (!entry.first.IsScalar()) throw Fault{at, "a key must be a plain text"};
          const std::string key = entry.first.Scalar();
          if (out.contains(key)) throw Fault{at, "key \"" + key + "\" is given twice"};
          out[key] = convert(entry.second, path.empty() ? key : path + "." + key, at, depth + 1);
        }
        return out;
      }
      default:
        return nullptr;
    }
  }

  std::map<std::string, int>* lines_ = nullptr;
  size_t nodes_ = 0;
};

// Reads an escape at `i`: \u with four hexadecimal digits. Empty: there is none.
std::optional<uint32_t> escaped_unit(std::string_view text, size_t i) {
  if (text.substr(i, 2) != "\\u") return std::nullopt;
  return text.size() < i + 6 ? std::nullopt : whole<uint32_t>(text.substr(i + 2, 4), 16);
}

// JSON writes characters beyond 16 bits as two escapes, YAML as one: \ud83d\ude00 becomes
// \U0001f600. Only for a text that begins like JSON: in YAML such escapes may occur outside of
// double quotes.
std::string with_whole_characters(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (text[first] != '{' && text[first] != '[')) return text;
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto high = escaped_unit(text, i);
    const auto low = high ? escaped_unit(text, i + 6) : std::nullopt;
    if (low && *high >= 0xd800 && *high < 0xdc00 && *low >= 0xdc00 && *low < 0xe000) {
      char escape[11];
      const uint32_t character = 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
      std::snprintf(escape, sizeof escape, "\\U%08x", character);
      out += escape;
      i += 11;
    } else {
      out += text[i];
      if (text[i] == '\\' && i + 1 < text.size()) out += text[++i];  // the escaped character
    }
  }
  return out;
}

Error at(const std::string& file, int line, const std::string& message) {
  return {Code::invalid_argument, message, file + ":" + std::to_string(line)};
}

// Whether YAML 1.1 may read it as another type than a text: yes, off, 1:30, 12e4.
bool is_other_in_1_1(std::string text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9') || text[0] == '.' || text[0] == '+' ||
      text[0] == '-')
    return true;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* word : {"y", "n", "yes", "no", "on", "off"})
    if (text == word) return true;
  return false;
}

// Whether a block has all of it: it has lines, ends with one line's end, and begins with neither a
// space nor an empty line.
bool fits_block(const std::string& text) {
  if (text.size() < 2 || text.back() != '\n' || text[text.size() - 2] == '\n') return false;
  if (text.front() == ' ' || text.front() == '\n' || text.front() == '\t') return false;
  return std::none_of(text.begin(), text.end(), [](unsigned char c) {
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
  });
}

void emit_text(YAML::Emitter& out, const std::string& text, YamlTexts texts) {
  const bool blocks = texts == YamlTexts::in_blocks;
  if (blocks && fits_block(text)) {
    out << YAML::Literal << text;
  } else if (plain(text).is_string() && !(blocks && is_other_in_1_1(text))) {
    out << text;  // without quotes only if it is read back as the same string
  } else {
    out << YAML::DoubleQuoted << text;
  }
}

void emit_value(YAML::Emitter& out, const json::value& v, YamlTexts texts) {
  switch (v.kind()) {
    case json::kind::null:
      out << YAML::Null;
      break;
    case json::kind::bool_:
      out << v.get_bool();
      break;
    case json::kind::int64:
      out << v.get_int64();
      break;
    case json::kind::uint64:
      out << v.get_uint64();
      break;
    case json::kind::double_:
      out << v.get_double();
      break;
    case json::kind::string:
      emit_text(out, std::string(v.get_string()), texts);
      break;
    case json::kind::array:
      if (v.get_array().empty()) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const auto& item : v.get_array()) emit_value(out, item, texts);
      out << YAML::EndSeq;
      break;
    case json::kind::object:
      if (v.get_object().empty()) out << YAML::Flow;
      out << YAML::BeginMap;
      for (const auto& [key, value] : v.get_object()) {
        out << YAML::Key << std::string(key) << YAML::Value;
        emit_value(out, value, texts);
      }
      out << YAML::EndMap;
      break;
  }
}

}  // namespace

int YamlDocument::line(std::string path) const {
  for (;;) {
    if (auto it = lines.find(path); it != lines.end()) return it->second;
    const size_t cut = path.find_last_of(".[");
    path.resize(cut == std::string::npos ? 0 : cut);
    if (path.empty()) break;
  }
  auto it = lines.find("");
  return it == lines.end() ? 1 : it->second;
}

Result<std::vector<YamlDocument>> read_yaml(const std::string& text, const std::string& file) {
  std::vector<YamlDocument> out;
  try {
    for (const auto& node : YAML::LoadAll(with_whole_characters(text))) {
      if (node.IsDefined() && !node.IsNull()) out.push_back(Reader().read(node));
    }
  } catch (const YAML::DeepRecursion& e) {
    return at(file, e.mark.line + 1,
              "is nested deeper than " + std::to_string(depth_max) + " levels");
  } catch (const YAML::Exception& e) {
    return at(file, e.mark.line + 1, e.msg);
  } catch (const Fault& f) {
    return at(file, f.line, f.message);
  }
  return out;
}

std::string to_yaml(const json::value& value, YamlTexts texts) {
  YAML::Emitter out;
  emit_value(out, value, texts);
  return std::string(out.c_str()) + "\n";
}

}  // namespace davit::host
