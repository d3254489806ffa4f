#include "jsonpath.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <boost/json/serialize.hpp>

namespace davit::host {

namespace {

namespace json = boost::json;

using Step = JsonPathStep;
using Values = std::vector<const json::value*>;

struct PathProblem {
  size_t at;
  std::string message;
};

const char* type_name(const json::value& v) {
  if (v.is_object()) return "an object";
  if (v.is_array()) return "an array";
  if (v.is_string()) return "a text";
  if (v.is_bool()) return "true or false";
  return v.is_null() ? "null" : "a number";
}

// The values in a value.
Values children_of(const json::value& v) {
  Values out;
  if (v.is_object()) {
    for (const auto& entry : v.get_object()) out.push_back(&entry.value());
  } else if (v.is_array()) {
    for (const auto& item : v.get_array()) out.push_back(&item);
  }
  return out;
}

// Every object and array, each before what is in it.
void add_containers(const json::value& v, Values& to) {
  const Values children = children_of(v);
  if (children.empty()) return;
  to.push_back(&v);
  for (const json::value* child : children) add_containers(*child, to);
}

void add_slice(const json::value& v, const Step& step, Values& to) {
  if (v.is_null()) return;
  if (!v.is_array())
    throw PathProblem{step.at, std::string(type_name(v)) + " has no items that an index selects"};
  const auto& items = v.get_array();
  const auto& slice = step.slice;
  const auto size = static_cast<int64_t>(items.size());
  const auto from_end = [size](int64_t n) { return n < 0 ? n + size : n; };
  const int64_t first = from_end(slice.first.value_or(0));
  const int64_t end = slice.index ? first + 1 : from_end(slice.end.value_or(size));
  if (first == end) return;
  if (first < 0 || first >= size || end < 0 || end > size) {
    throw PathProblem{step.at, "index " + std::to_string(first < 0 || first >= size ? first : end) +
                                   " is out of bounds: there are " + std::to_string(size)};
  }
  if (first > end) throw PathProblem{step.at, "the slice begins behind its end"};
  for (int64_t n = first; n < end; n += slice.step.value_or(1))
    to.push_back(&items[static_cast<size_t>(n)]);
}

bool holds(const std::string& compare, int order) {
  if (compare == "==") return order == 0;
  if (compare == "!=") return order != 0;
  if (compare == "<") return order < 0;
  if (compare == "<=") return order <= 0;
  return compare == ">" ? order > 0 : order >= 0;
}

template <class T>
int order_of(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

bool compares(const json::value& a, const json::value& b, const Step& step) {
  if (a.is_number() && b.is_number()) {
    if (a.is_int64() && b.is_int64())
      return holds(step.compare, order_of(a.get_int64(), b.get_int64()));
    return holds(step.compare, order_of(a.to_number<double>(), b.to_number<double>()));
  }
  if (a.is_string() && b.is_string())
    return holds(step.compare, order_of(a.get_string(), b.get_string()));
  const bool equality = step.compare == "==" || step.compare == "!=";
  if (a.is_bool() && b.is_bool() && equality)
    return holds(step.compare, order_of(a.get_bool(), b.get_bool()));
  throw PathProblem{step.at, std::string(type_name(a)) + " and " + type_name(b) +
                                 " cannot be compared by " + step.compare};
}

Values evaluate(Values values, const std::vector<Step>& steps);

// The one value of a side of a comparison, or NULL.
const json::value* side_of(const json::value& item, const std::vector<Step>& steps,
                           const Step& step) {
  const Values found = evaluate({&item}, steps);
  if (found.size() > 1) throw PathProblem{step.at, "only one value can be compared at a time"};
  return found.empty() ? nullptr : found.front();
}

bool passes(const json::value& item, const Step& step) {
  if (step.compare.empty()) {
    try {
      return !evaluate({&item}, step.left).empty();
    } catch (const PathProblem&) {
      return false;
    }
  }
  const json::value* left = side_of(item, step.left, step);
  const json::value* right = side_of(item, step.right, step);
  return left != nullptr && right != nullptr && compares(*left, *right, step);
}

void add_passing(const json::value& v, const Step& step, Values& to) {
  if (!v.is_array())
    throw PathProblem{step.at, std::string(type_name(v)) + " has no items to filter"};
  for (const auto& item : v.get_array()) {
    if (passes(item, step)) to.push_back(&item);
  }
}

void add_results(const json::value& v, const Step& step, Values& to) {
  switch (step.type) {
    case Step::Type::field:
      if (const auto* object = v.if_object(); object != nullptr) {
        if (const auto* found = object->if_contains(step.name); found != nullptr)
          to.push_back(found);
      }
      return;
    case Step::Type::wildcard:
      for (const json::value* child : children_of(v)) to.push_back(child);
      return;
    case Step::Type::recursive:
      return add_containers(v, to);
    case Step::Type::slice:
      return add_slice(v, step, to);
    case Step::Type::filter:
      return add_passing(v, step, to);
    case Step::Type::united:
    case Step::Type::literal:
      return;  // of all values together: evaluate()
  }
}

Values evaluate(Values values, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    Values next;
    if (step.type == Step::Type::literal) {
      next = {&step.literal};
    } else if (step.type == Step::Type::united) {
      for (const auto& one : step.united) {
        const Values more = evaluate(values, one);
        next.insert(next.end(), more.begin(), more.end());
      }
    } else {
      for (const json::value* v : values) add_results(*v, step, next);
    }
    values = std::move(next);
  }
  return values;
}

// With the keys in alphabetical order, as kubectl prints them.
json::value in_order(const json::value& v) {
  if (v.is_array()) {
    json::array out;
    for (const auto& item : v.get_array()) out.push_back(in_order(item));
    return out;
  }
  if (!v.is_object()) return v;
  std::vector<std::string> keys;
  for (const auto& entry : v.get_object()) keys.emplace_back(entry.key());
  std::sort(keys.begin(), keys.end());
  json::object out;
  for (const std::string& key : keys) out[key] = in_order(v.get_object().at(key));
  return out;
}

// The shortest text that is read as the same number, in the form of kubectl: 1.5, 1e+21, 1e-05.
std::string number_text(double value) {
  char out[40];
  int digits = 1;
  do {
    std::snprintf(out, sizeof out, "%.*e", digits - 1, value);
  } while (std::strtod(out, nullptr) != value && ++digits <= 17);
  const int exponent = std::atoi(std::strchr(out, 'e') + 1);
  const bool plain = exponent >= -4 && exponent < 6;
  if (plain) std::snprintf(out, sizeof out, "%.*f", std::max(0, digits - 1 - exponent), value);
  return out;
}

std::string printed_text(const json::value& v) {
  if (v.is_string()) return std::string(v.get_string());
  if (v.is_double()) return number_text(v.get_double());
  return json::serialize(in_order(v));
}

void add_text(const json::value& document, const std::vector<JsonPathPart>& parts,
              std::string& out) {
  for (const auto& part : parts) {
    if (part.type == JsonPathPart::Type::text) {
      out += part.text;
      continue;
    }
    const Values found = evaluate({&document}, part.steps);
    if (part.type == JsonPathPart::Type::range) {
      for (const json::value* value : found) add_text(*value, part.body, out);
      continue;
    }
    const char* separator = "";
    for (const json::value* value : found) {
      out += std::exchange(separator, " ") + printed_text(*value);
    }
  }
}

}  // namespace

Result<std::string> JsonPath::print(const json::value& document) const {
  std::string out;
  try {
    add_text(document, parts_, out);
  } catch (const PathProblem& problem) {
    return Error{Code::invalid_argument, "the template at character " + std::to_string(problem.at) +
                                             ": " + problem.message};
  }
  return out;
}

}  // namespace davit::host
