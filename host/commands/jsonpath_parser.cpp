#include <algorithm>
#include <charconv>

#include <boost/json/parse.hpp>

#include "jsonpath.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

using Step = JsonPathStep;
using Steps = JsonPathStep::Steps;
using Part = JsonPathPart;

struct PathFault {
  size_t at;  // from 0
  std::string message;
};

bool ends_name(char c) {
  return std::string_view(" \t\r\n.,[]$@{}").find(c) != std::string_view::npos;
}

std::optional<int64_t> index_of(std::string_view text) {
  int64_t out = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  return read.ec == std::errc() && read.ptr == end ? std::optional(out) : std::nullopt;
}

// A template that is nested deeper is a mistake.
constexpr size_t ranges_max = 32;

class PathParser {
 public:
  PathParser(std::string_view text, size_t offset) : text_(text), offset_(offset) {}

  std::vector<Part> parts() {
    std::vector<Part> out;
    while (!done()) {
      if (text_[at_] != '{') {
        const size_t end = std::min(text_.find('{', at_), text_.size());
        out.push_back({Part::Type::text, std::string(text_.substr(at_, end - at_))});
        at_ = end;
        continue;
      }
      const size_t begin = at_++;
      skip_spaces();
      if (take_word("end")) {
        close();
        if (open_ == 0) fault(begin, "{end} has no {range}");
        ended_ = true;
        return out;
      }
      out.push_back(take_word("range") ? range(begin) : expression());
    }
    return out;
  }

  // All of the text is steps; of an operand of a filter.
  Steps operand() {
    Steps out;
    while (!done()) step(out);
    return out;
  }

 private:
  [[noreturn]] void fault(size_t at, std::string message) const {
    throw PathFault{offset_ + at, std::move(message)};
  }
  bool done() const { return at_ >= text_.size(); }
  void skip_spaces() {
    while (!done() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take_word(std::string_view word) {
    const bool there = text_.substr(at_, word.size()) == word &&
                       (at_ + word.size() >= text_.size() || ends_name(text_[at_ + word.size()]));
    if (there) at_ += word.size();
    return there;
  }
  void close() {
    skip_spaces();
    if (done() || text_[at_] != '}') fault(at_, "a \"}\" is missing");
    ++at_;
  }

  Part range(size_t begin) {
    Part out = expression();
    out.type = Part::Type::range;
    if (++open_ > ranges_max) fault(begin, "there are too many ranges in one another");
    out.body = parts();
    if (!std::exchange(ended_, false)) fault(begin, "{range} has no {end}");
    --open_;
    return out;
  }
  Part expression() {
    Part out{Part::Type::expression};
    for (;;) {
      if (done()) fault(at_, "a \"}\" is missing");
      if (text_[at_] == '}') break;
      step(out.steps);
    }
    ++at_;
    return out;
  }

  void step(Steps& to) {
    const char c = text_[at_];
    if (text_.substr(at_, 2) == "..") return recursive(to);
    if (text_.substr(at_, 3) == "[?(") return filter(to);
    switch (c) {
      case ' ':
      case '\t':
      case '@':
      case '$':  // the object at hand, as kubectl takes it
        ++at_;
        return;
      case '.':
        ++at_;
        return field(to);
      case '[':
        return bracket(to);
      case '"':
      case '\'':
        return quoted(to);
      default:
        return number_or_word(to);
    }
  }

  void field(Steps& to) {
    const size_t begin = at_;
    std::string name;
    while (!done() && !ends_name(text_[at_])) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      name += text_[at_++];
    }
    if (name.empty()) return;  // "{.}" is the object at hand
    Step out{name == "*" ? Step::Type::wildcard : Step::Type::field, offset_ + begin + 1};
    out.name = std::move(name);
    to.push_back(std::move(out));
  }

  void recursive(Steps& to) {
    if (!to.empty() && to.back().type == Step::Type::recursive) fault(at_, "\"..\" stands twice");
    to.push_back({Step::Type::recursive, offset_ + at_ + 1});
    at_ += 2;
    if (!done() && !ends_name(text_[at_])) field(to);
  }

  void quoted(Steps& to) {
    const size_t begin = at_;
    to.push_back({Step::Type::literal, offset_ + begin + 1});
    to.back().literal = json::string(quoted_text());
  }
  std::string quoted_text() {
    const size_t begin = at_;
    const char quote = text_[at_++];
    std::string inside;  // as JSON has it
    for (;; ++at_) {
      if (done() || text_[at_] == '\n') fault(begin, "the text has no closing quote");
      const char c = text_[at_];
      if (c == quote) break;
      if (c == '\\' && at_ + 1 < text_.size()) {
        const char escaped = text_[++at_];
        inside += escaped == '\'' ? "'" : std::string("\\") + escaped;
      } else {
        inside += c == '"' ? "\\\"" : std::string(1, c);
      }
    }
    ++at_;
    boost::system::error_code error;
    const json::value read = json::parse("\"" + inside + "\"", error);
    if (error || !read.is_string()) fault(begin, "the text has an escape that is none");
    return std::string(read.get_string());
  }

  void number_or_word(Steps& to) {
    const size_t begin = at_;
    while (!done() && (!ends_name(text_[at_]) || text_[at_] == '.')) ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (word.empty()) fault(begin, std::string("\"") + text_[begin] + "\" is not expected here");
    boost::system::error_code error;
    json::value read = json::parse(word, error);
    if (error || !read.is_primitive() || read.is_null())
      fault(begin, "\"" + word + "\" is no expression; a field begins with a dot: {." + word + "}");
    to.push_back({Step::Type::literal, offset_ + begin + 1});
    to.back().literal = std::move(read);
  }

  // ['a'], ['a','b'], [0], [1:3], [*], [0,2]
  void bracket(Steps& to) {
    const size_t begin = at_++;
    std::vector<Steps> items;
    do {
      skip_spaces();
      items.emplace_back().push_back(bracket_item(begin));
      skip_spaces();
      if (done()) fault(begin, "a \"]\" is missing");
    } while (text_[at_] == ',' && ++at_ <= text_.size());
    if (text_[at_] != ']') fault(at_, "a \"]\" is missing");
    ++at_;
    if (items.size() == 1) return to.push_back(std::move(items[0][0]));
    Step out{Step::Type::united, offset_ + begin + 1};
    out.united = std::move(items);
    to.push_back(std::move(out));
  }
  Step bracket_item(size_t begin) {
    if (done()) fault(begin, "a \"]\" is missing");
    Step out{Step::Type::slice, offset_ + at_ + 1};
    if (text_[at_] == '\'' || text_[at_] == '"') {
      const size_t from = at_;
      const size_t end = text_.find(text_[at_], at_ + 1);
      if (end == std::string_view::npos) fault(from, "the text has no closing quote");
      out.type = Step::Type::field;
      for (at_ = from + 1; at_ < end; ++at_) {
        if (text_[at_] != '\\') out.name += text_[at_];
      }
      at_ = end + 1;
      return out;
    }
    if (text_[at_] == '*') {
      ++at_;
      return out;
    }
    out.slice = slice(begin);
    return out;
  }
  Step::Slice slice(size_t begin) {
    const size_t from = at_;
    while (!done() && text_[at_] != ']' && text_[at_] != ',') ++at_;
    if (done()) fault(begin, "a \"]\" is missing");
    std::string_view text = text_.substr(from, at_ - from);
    while (text.ends_with(' ')) text.remove_suffix(1);
    Step::Slice out;
    std::optional<int64_t>* const places[] = {&out.first, &out.end, &out.step};
    size_t place = 0;
    for (size_t at = 0; at <= text.size(); ++place) {
      const size_t end = std::min(text.find(':', at), text.size());
      const std::string_view number = text.substr(at, end - at);
      if (place == 3) fault(from, "a slice is [FIRST:END:STEP]");
      if (!number.empty()) *places[place] = index_of(number);
      if (!number.empty() && !*places[place])
        fault(from,
              "\"" + std::string(text) + "\" is no index: a number, FIRST:END, * or a 'name'");
      at = end + 1;
    }
    out.index = place == 1;
    if (out.index && !out.first) fault(from, "an index is missing");
    if (out.step && *out.step <= 0) fault(from, "the step of a slice must be at least 1");
    return out;
  }

  // [?(LEFT)] or [?(LEFT COMPARE RIGHT)]
  void filter(Steps& to) {
    const size_t begin = at_;
    const size_t from = at_ += 3;
    size_t compare = std::string_view::npos, compare_end = 0;
    for (;; ++at_) {
      if (done() || text_[at_] == '\n') fault(begin, "the filter has no closing \")]\"");
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        quoted_text();
        --at_;
      } else if (c == ')') {
        break;
      } else if (compare == std::string_view::npos && is_compare(c)) {
        compare = at_;
        while (at_ + 1 < text_.size() && is_compare(text_[at_ + 1])) ++at_;
        compare_end = at_ + 1;
      }
    }
    const size_t end = at_++;
    if (done() || text_[at_] != ']') fault(begin, "the filter has no closing \")]\"");
    ++at_;
    Step out{Step::Type::filter, offset_ + begin + 1};
    out.left = part_of(from, std::min(compare, end));
    if (compare != std::string_view::npos) {
      out.compare = text_.substr(compare, compare_end - compare);
      constexpr std::string_view known[] = {"==", "!=", "<", "<=", ">", ">="};
      if (std::find(std::begin(known), std::end(known), out.compare) == std::end(known))
        fault(compare, "\"" + out.compare + "\" compares nothing: ==, !=, <, <=, > or >=");
      out.right = part_of(compare_end, end);
      if (out.right.empty() &&
          text_.substr(compare_end, end - compare_end).find('@') == std::string_view::npos)
        fault(compare_end, "what it is compared with is missing");
    }
    to.push_back(std::move(out));
  }
  static bool is_compare(char c) { return c == '=' || c == '!' || c == '<' || c == '>'; }
  Steps part_of(size_t begin, size_t end) const {
    return PathParser(text_.substr(begin, end - begin), offset_ + begin).operand();
  }

  std::string_view text_;
  size_t offset_;  // of the text in the template
  size_t at_ = 0;
  size_t open_ = 0;     // ranges
  bool ended_ = false;  // the innermost range has met its {end}
};

}  // namespace

Result<JsonPath> JsonPath::parse(std::string_view text) {
  if (text.empty())
    return Error{Code::invalid_argument, "there is no template: jsonpath='{.items[*].id}'"};
  JsonPath out;
  try {
    out.parts_ = PathParser(text, 0).parts();
  } catch (const PathFault& fault) {
    return Error{Code::invalid_argument,
                 "at character " + std::to_string(fault.at + 1) + ": " + fault.message};
  }
  return out;
}

}  // namespace davit::host
