#include "token_file.hpp"

#include <algorithm>

namespace davit::secret_store {
namespace {

// A file with other characters holds no token: it is half written, or the wrong file.
bool usable(std::string_view token) {
  return !token.empty() &&
         std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; });
}

}  // namespace

Result<Secret> TokenFile::read() const {
  auto content = host_.credential(file_);
  if (!content.ok()) {
    Error error = content.error();
    error.where = setting_;
    return error;
  }
  if (usable(content->view())) return std::move(*content);
  return Error{Code::failed_precondition,
               "\"" + file_ + "\" holds no token: one word of printable ASCII", setting_};
}

Result<Secret> TokenFile::current() {
  auto now = read();
  const std::lock_guard lock(mutex_);
  if (!now.ok()) {
    if (!last_) return now.error();
    if (std::exchange(fault_, now.error().message) != now.error().message)
      host_.warn("the token file cannot be read; the last token stays in use",
                 {{"reason", fault_}});
    return Secret(last_->view());
  }
  if (!std::exchange(fault_, "").empty()) host_.info("the token file can be read again");
  last_ = Secret(now->view());
  return now;
}

}  // namespace davit::secret_store
