// What a target claims. A broken claim ends the run with a stack, as a fault that a sanitizer finds
// does.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <davit/types.hpp>
#include <davit/utf8.hpp>

namespace davit::fuzz {

inline void require(bool holds, std::string_view claim, std::string_view detail = {}) {
  if (holds) return;
  std::fprintf(stderr, "\nbroken claim: %.*s\n%.*s\n", static_cast<int>(claim.size()), claim.data(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

// A result may be an error, but one that a person can use, and never a bug: the plugin boundary
// turns an exception into INTERNAL with this text.
template <class T>
const Result<T>& no_bug(const Result<T>& r, std::string_view what) {
  if (r.ok()) return r;
  require(!r.error().message.empty(), "an error says what is wrong", what);
  const bool thrown =
      r.error().code == Code::internal && r.error().message.starts_with("exception");
  require(!thrown, "no exception reaches the boundary",
          std::string(what) + ": " + r.error().message);
  return r;
}

// As no_bug, and what an error says can be put into a message, where protobuf insists on text. Of
// an input that is no text itself nothing is claimed: the codec never gives one to a kind.
template <class T>
const Result<T>& sound(const Result<T>& r, std::string_view what, std::string_view input) {
  no_bug(r, what);
  require(r.ok() || !valid_utf8(input) ||
              (valid_utf8(r.error().message) && valid_utf8(r.error().where)),
          "an error of text is text", r.ok() ? "" : r.error().message + "\n" + r.error().where);
  return r;
}

}  // namespace davit::fuzz
