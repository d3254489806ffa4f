#include "token.hpp"

#include <algorithm>
#include <utility>

namespace davit::cluster_kubernetes {
namespace {
constexpr std::chrono::seconds look_every{1};
constexpr std::chrono::seconds read_every{60};

// True if the token can be sent in a header. A file with other characters holds no token: it is
// half written, for example, or the wrong file.
bool usable(std::string_view token) {
  return !token.empty() &&
         std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; });
}
}  // namespace

Token::Token(const Access& access, ReadFile read, Report report)
    : read_(std::move(read)), report_(std::move(report)) {
  use(access);
}

void Token::use(const Access& access) {
  if (file_ != access.token_file) fault_.clear();  // another file: it has its own troubles
  file_ = access.token_file;
  token_ = Secret(access.token.view());
  stale_ = true;
}

std::string_view Token::get(std::chrono::nanoseconds now) {
  if (file_.empty()) return token_.view();
  bool due = stale_ || now - read_at_ >= read_every;
  if (!due && now - looked_at_ >= look_every) {
    looked_at_ = now;
    due = stamp_of(file_) != stamp_;
  }
  if (!due) return token_.view();
  stale_ = false;
  read_at_ = looked_at_ = now;
  stamp_ = stamp_of(file_);
  auto fresh = read_(file_);
  if (fresh.ok() && usable(fresh->view())) {
    token_ = std::move(*fresh);
    if (!std::exchange(fault_, "").empty()) report_(nullptr);
    return token_.view();
  }
  const Error why =
      fresh.ok() ? Error{Code::failed_precondition, "token file \"" + file_ + "\" holds no token"}
                 : fresh.error();
  if (std::exchange(fault_, why.message) != why.message) report_(&why);
  return token_.view();
}

}  // namespace davit::cluster_kubernetes
