#include "toml.hpp"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// toml++ asserts some things about its input ("[ = ]") that it then reports as the errors they are.
// Bad input is never an assertion here, nor, as with NDEBUG and clang, a promise to the optimiser.
#define TOML_ASSERT(expression) static_cast<void>(0)
#undef NDEBUG
#include <toml++/toml.h>

#include <algorithm>

#include "faults.hpp"

namespace davit::host {
namespace {

class Converter {
 public:
  Converter(std::string_view file, Faults& faults) : file_(file), faults_(faults) {}

  std::unique_ptr<Node> table(const toml::table& from, std::string name, std::string key,
                              toml::source_position at) {
    auto node = make(Node::Type::table, std::move(name), std::move(key), at);
    for (const auto& [entry, value] : from) {
      const std::string_view entry_name = entry.str();
      node->children.push_back(convert(value, std::string(entry_name), join(node->key, entry_name),
                                       entry.source().begin));
    }
    // toml++ keeps a table sorted by name; people mean the order in which they wrote.
    std::stable_sort(node->children.begin(), node->children.end(),
                     [](const auto& a, const auto& b) {
                       return std::pair(a->line, a->column) < std::pair(b->line, b->column);
                     });
    // A table that was only named by what is in it ([plugin.a] names plugin) begins there.
    if (node->line == 0 && !node->children.empty()) {
      place(*node, node->children.front()->line, node->children.front()->column);
    }
    return node;
  }

 private:
  static std::string join(const std::string& key, std::string_view entry) {
    return key.empty() ? std::string(entry) : key + "." + std::string(entry);
  }

  void place(Node& node, uint32_t line, uint32_t column) {
    node.line = line;
    node.column = column;
    node.where = file_ + ":" + std::to_string(line);
  }

  std::unique_ptr<Node> make(Node::Type type, std::string name, std::string key,
                             toml::source_position at) {
    auto node = std::make_unique<Node>();
    node->type = type;
    node->name = std::move(name);
    node->key = std::move(key);
    node->file = file_;
    place(*node, at.line, at.column);
    return node;
  }

  std::unique_ptr<Node> array(const toml::array& from, std::string name, std::string key,
                              toml::source_position at) {
    auto node = make(Node::Type::array, std::move(name), std::move(key), at);
    size_t index = 0;
    for (const auto& value : from) {
      std::string item = "[" + std::to_string(index++) + "]";
      node->children.push_back(convert(value, item, node->key + item, value.source().begin));
    }
    return node;
  }

  std::unique_ptr<Node> convert(const toml::node& value, std::string name, std::string key,
                                toml::source_position at) {
    if (const auto* t = value.as_table()) return table(*t, std::move(name), std::move(key), at);
    if (const auto* a = value.as_array()) return array(*a, std::move(name), std::move(key), at);
    auto node = make(Node::Type::string, std::move(name), std::move(key), at);
    if (const auto* s = value.as_string()) {
      node->string = s->get();
    } else if (const auto* i = value.as_integer()) {
      node->type = Node::Type::integer;
      node->integer = i->get();
    } else if (const auto* f = value.as_floating_point()) {
      node->type = Node::Type::real;
      node->real = f->get();
    } else if (const auto* b = value.as_boolean()) {
      node->type = Node::Type::boolean;
      node->boolean = b->get();
    } else {
      node->reject(faults_, "dates and times are not used here: write a string or a number");
    }
    return node;
  }

  std::string file_;
  Faults& faults_;
};

}  // namespace

std::unique_ptr<Node> parse_toml(std::string_view text, std::string_view name, Faults& faults) {
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    std::string where(name);
    where += ":" + std::to_string(error.source().begin.line) + ":" +
             std::to_string(error.source().begin.column);
    std::string what(error.description());
    std::replace_if(
        what.begin(), what.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    // The parser writes sentences; our messages begin in lower case.
    if (!what.empty() && what[0] >= 'A' && what[0] <= 'Z')
      what[0] = static_cast<char>(what[0] - 'A' + 'a');
    faults.add(where, "", what);
    return nullptr;
  }
  return Converter(name, faults).table(parsed.table(), "", "", {1, 1});
}

}  // namespace davit::host
