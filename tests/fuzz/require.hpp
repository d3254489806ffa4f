// What a target claims. A broken claim ends the run with a stack, as a fault that a sanitizer finds
// does.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <davit/types.hpp>

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

}  // namespace davit::fuzz
