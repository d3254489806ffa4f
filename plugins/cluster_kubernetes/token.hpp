// The bearer token. A token from a file is read again when the file has changed, when the token is
// a minute old, and after the API server has refused it. The reason: tokens of pods live for an
// hour and are replaced in place.
#pragma once

#include "access.hpp"
#include "file_stamp.hpp"

namespace davit::cluster_kubernetes {

class Token {
 public:
  // Called with why the file cannot be read, whenever that changes. Meanwhile the last token stays
  // in use. Called with NULL when the file can be read again.
  using Report = std::function<void(const Error*)>;
  Token(const Access& access, ReadFile read, Report report);

  // Uses the token of this access from now on.
  void use(const Access& access);
  // Empty: there is no token. The view is valid until the next call. May read a small file.
  std::string_view get(std::chrono::nanoseconds now);
  void refused() { stale_ = true; }

 private:
  std::string file_;
  const ReadFile read_;
  const Report report_;
  Secret token_;
  FileStamp stamp_;
  std::chrono::nanoseconds read_at_{0}, looked_at_{0};
  bool stale_ = true;
  std::string fault_;  // of the last read, as it was reported; empty: there was none
};

}  // namespace davit::cluster_kubernetes
