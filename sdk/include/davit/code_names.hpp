// The words of gRPC for its status codes, as they stand in documents and tables: "NOT_FOUND"
// (https://grpc.github.io/grpc/core/md_doc_statuscodes.html).
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "types.hpp"

namespace davit {

// By number.
inline constexpr std::array<std::string_view, 17> code_words = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

// Empty: the number has no word.
inline std::string_view word_of(Code code) {
  const auto number = static_cast<size_t>(code);
  return number < code_words.size() ? code_words[number] : std::string_view();
}

// nullopt: no code has this word.
inline std::optional<Code> code_of_word(std::string_view word) {
  for (size_t number = 0; number < code_words.size(); ++number)
    if (code_words[number] == word) return static_cast<Code>(number);
  return std::nullopt;
}

}  // namespace davit
