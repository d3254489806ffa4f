#include "written.hpp"

#include <charconv>
#include <cmath>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <davit/utf8.hpp>

namespace davit::kubernetes {
namespace json = boost::json;
namespace {

constexpr size_t shown_max = 40;

// The real number as the kind and the applier have it: both parse it, and the kind writes it.
double after_all(std::string_view text) {
  json::error_code bad;
  json::value read = json::parse({text.data(), text.size()}, bad);
  if (!bad) read = json::parse(json::serialize(read), bad);
  return bad || !read.is_number() ? std::nan("") : read.to_number<double>();
}

// Whole numbers of 64 bits are exact everywhere. Kubernetes takes others for doubles; so that it
// gets the double that the text means, the text must survive the parsers on its way.
bool is_kept(std::string_view text) {
  const char* const end = text.data() + text.size();
  int64_t whole = 0;
  uint64_t large = 0;
  if (const auto r = std::from_chars(text.data(), end, whole); r.ec == std::errc{} && r.ptr == end)
    return true;
  if (const auto r = std::from_chars(text.data(), end, large); r.ec == std::errc{} && r.ptr == end)
    return true;
  double meant = 0;
  const auto r = std::from_chars(text.data(), end, meant);
  if (r.ptr != end) return true;  // no number: the parser says so
  return r.ec == std::errc{} && std::isfinite(meant) && after_all(text) == meant;
}

// Walks the text once and knows where it is: in which element of which member.
class Walk {
 public:
  Walk(std::string_view text, int depth_max) : text_(text), depth_max_(depth_max) {}

  Result<> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        string();
        continue;
      }
      if (c == '{' || c == '[') open(c);
      if (c == '}' || c == ']') --depth_;
      if (c == ',' && depth_ == member_depth) ++index_;
      if (depth_ >= depth_max_ + (in_list_ ? member_depth + 1 : member_depth))
        return fault("is nested deeper than " + std::to_string(depth_max_) + " levels");
      if (c == '-' || (c >= '0' && c <= '9')) {
        if (auto r = number(); !r.ok()) return r;
        continue;
      }
      ++at_;
    }
    return {};
  }

 private:
  static constexpr int member_depth = 2;  // of what is in a member of the message

  void open(char bracket) {
    if (++depth_ != member_depth) return;
    in_list_ = bracket == '[';
    index_ = 0;
  }
  // Past the string. One at depth 1 may be a member's name; the last one is.
  void string() {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (depth_ == 1) member_ = text_.substr(begin, std::min(at_, text_.size()) - begin);
    ++at_;
  }
  Result<> number() {
    const size_t end = std::min(text_.find_first_not_of("0123456789+-.eE", at_), text_.size());
    const std::string_view written = text_.substr(at_, end - at_);
    at_ = end;
    if (is_kept(written)) return {};
    return fault("has the number " + std::string(shortened(written, shown_max)) +
                 ", which no double has exactly so: write it shorter, or as a text");
  }
  Result<> fault(std::string message) const {
    std::string where(member_);
    if (depth_ >= member_depth && in_list_) where += "[" + std::to_string(index_) + "]";
    return Error{Code::invalid_argument, std::move(message), std::move(where)};
  }

  const std::string_view text_;
  const int depth_max_;
  std::string_view member_;
  size_t at_ = 0, index_ = 0;
  int depth_ = 0;
  bool in_list_ = false;  // the member is a list
};

}  // namespace

Result<> check_written(std::string_view message, int depth_max) {
  return Walk(message, depth_max).run();
}

}  // namespace davit::kubernetes
