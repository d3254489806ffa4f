#include "config_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "toml_text.hpp"

namespace davit::host {
namespace {

constexpr const char* hidden = "***";

std::string key_text(const std::string& key) {
  return is_table_name(key) ? key : in_toml(key);
}

std::string real_text(double real) {
  if (std::isnan(real)) return "nan";
  if (std::isinf(real)) return real < 0 ? "-inf" : "inf";
  char digits[32];
  std::string out(digits, std::to_chars(digits, digits + sizeof digits, real).ptr);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

// An environment variable is a secret by the end of its name, every other key by all of it.
bool names_secret(const std::string& key) {
  static constexpr std::array<std::string_view, 4> words{"PASSWORD", "PASSWD", "SECRET", "TOKEN"};
  std::string upper = key;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const bool variable = upper == key;
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) {
                       return upper == word ||
                              (variable && upper.ends_with(std::string("_") + std::string(word)));
                     }) ||
         (variable && upper.ends_with("_KEY"));
}

// "https://user:***@host/" of an address with a password, "host=db password=***" of a connection.
std::string without_password(std::string text) {
  const size_t scheme = text.find("://");
  if (scheme != std::string::npos) {
    const size_t begin = scheme + 3;
    const size_t end = std::min(text.find_first_of("/?#", begin), text.size());
    const size_t at = text.rfind('@', end);
    const size_t colon = text.find(':', begin);
    if (at != std::string::npos && at > begin && colon < at)
      text.replace(colon + 1, at - colon - 1, hidden);
  }
  constexpr std::string_view word = "password=";
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    at += word.size();
    text.replace(at, std::min(text.find_first_of(" &", at), text.size()) - at, hidden);
  }
  return text;
}

bool all_tables(const Node& array) {
  return !array.children.empty() &&
         std::all_of(array.children.begin(), array.children.end(),
                     [](const auto& item) { return item->type == Node::Type::table; });
}

bool has_heading(const Node& node) {
  return node.type == Node::Type::table || (node.type == Node::Type::array && all_tables(node));
}

class TomlPrinter {
 public:
  explicit TomlPrinter(const ConfigText& how) : how_(how) {}

  void table(const Node& node, const std::string& path, bool array_item) {
    const bool plain = std::any_of(node.children.begin(), node.children.end(),
                                   [](const auto& child) { return !has_heading(*child); });
    const Setting* known = how_.settings && !array_item ? how_.settings(node) : nullptr;
    if (!path.empty() && (plain || array_item || node.children.empty() || known != nullptr)) {
      if (!out_.empty()) out_ += "\n";
      line(array_item ? "[[" + path + "]]" : "[" + path + "]", node);
    }
    for (const auto& child : node.children) {
      if (!has_heading(*child)) line(key_text(child->name) + " = " + value_text(*child), *child);
    }
    if (known != nullptr) unset(node, *known);
    for (const auto& child : node.children) {
      const std::string inner = (path.empty() ? "" : path + ".") + key_text(child->name);
      if (child->type == Node::Type::table) {
        table(*child, inner, false);
      } else if (has_heading(*child)) {
        for (const auto& item : child->children) table(*item, inner, true);
      }
    }
  }
  std::string take() { return std::move(out_); }

 private:
  void line(const std::string& text, const Node& node) {
    out_ += text;
    if (how_.origin && !node.where.empty()) out_ += "  # " + node.where;
    out_ += "\n";
  }
  void unset(const Node& node, const Setting& known) {
    for (const Setting& part : known.parts) {
      if (node.find(part.name) != nullptr || part.usual.empty()) continue;
      out_ += "#" + part.name + " = " + part.usual;
      out_ += (part.about.empty() ? "" : "  # " + part.about) + "\n";
    }
  }

  const ConfigText& how_;
  std::string out_;
};

}  // namespace

std::string value_text(const Node& value) {
  switch (value.type) {
    case Node::Type::string:
      return in_toml(names_secret(value.name) ? hidden : without_password(value.string));
    case Node::Type::integer:
      return std::to_string(value.integer);
    case Node::Type::real:
      return real_text(value.real);
    case Node::Type::boolean:
      return value.boolean ? "true" : "false";
    case Node::Type::table:
    case Node::Type::array:
      break;
  }
  const bool table = value.type == Node::Type::table;
  std::string out;
  for (const auto& child : value.children) {
    out += out.empty() ? "" : ", ";
    out += (table ? key_text(child->name) + " = " : "") + value_text(*child);
  }
  if (!table) return "[" + out + "]";
  return out.empty() ? "{}" : "{ " + out + " }";
}

std::string config_text(const Node& root, const ConfigText& how) {
  TomlPrinter printer(how);
  printer.table(root, "", false);
  return printer.take();
}

}  // namespace davit::host
