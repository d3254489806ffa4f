// Templates of `-o jsonpath=TEMPLATE`, as kubectl reads them: text, and expressions in braces that
// select values of a JSON document.
//
//   {.items[*].id}   {range .items[*]}{.id}{"\n"}{end}   {.items[?(@.state=="running")].id}
//
// jsonpath_parser.cpp reads a template, jsonpath.cpp evaluates it. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include <davit/types.hpp>

namespace davit::host {

// A step of an expression: it makes values of values.
struct JsonPathStep {
  enum class Type { field, wildcard, recursive, slice, filter, united, literal };
  using Steps = std::vector<JsonPathStep>;
  // [FIRST:END:STEP]; an index is a slice of one.
  struct Slice {
    std::optional<int64_t> first, end, step;
    bool index = false;
  };

  Type type;
  size_t at = 0;                 // where it stands in the template, from 1
  std::string name{};            // of a field
  boost::json::value literal{};  // a text, a number, true or false
  Slice slice{};
  std::string compare{};        // of a filter: "==", or "" if it asks whether `left` is there
  Steps left{}, right{};        // of a filter
  std::vector<Steps> united{};  // ['a','b']
};

// A piece of a template.
struct JsonPathPart {
  enum class Type { text, expression, range };
  Type type = Type::text;
  std::string text{};
  JsonPathStep::Steps steps{};
  std::vector<JsonPathPart> body{};  // of a range: printed for each value of `steps`
};

class JsonPath {
 public:
  // INVALID_ARGUMENT, with the place of the fault: `at character 8: a "]" is missing`.
  static Result<JsonPath> parse(std::string_view text);
  // What kubectl prints: the values of an expression with spaces between them, texts as they are,
  // objects and arrays as JSON. What is not there is nothing. INVALID_ARGUMENT: an index is out of
  // bounds, or values cannot be compared.
  Result<std::string> print(const boost::json::value& document) const;

 private:
  std::vector<JsonPathPart> parts_;
};

}  // namespace davit::host
