#include "libcurl.hpp"

#include <curl/curl.h>
#include <malloc.h>
#include <regex.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <davit/ascii.hpp>

namespace davit::http {
namespace {

void wipe_and_free(void* memory) {
  if (memory == nullptr) return;
  explicit_bzero(memory, malloc_usable_size(memory));
  std::free(memory);
}

void* move_and_wipe(void* old, size_t size) {
  if (old == nullptr) return std::malloc(size);
  void* moved = std::malloc(size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, old, std::min(size, malloc_usable_size(old)));
  wipe_and_free(old);
  return moved;
}

// The counts in libcurl's words, which differ from one attempt to the next. libc's expressions, as
// std::regex adds 100 KiB to each plugin that uses it.
struct Counts {
  Counts() {
    ::regcomp(&pattern,
              "( with timeout)? after [0-9]+ (ms|milliseconds)"
              "( with [0-9]+ (out of [0-9]+ )?bytes received)?"
              "| with [0-9]+ bytes (remaining to read|missing)",
              REG_EXTENDED);
  }
  regex_t pattern;
};

}  // namespace

void start_libcurl() {
  static const CURLcode ready = curl_global_init_mem(
      CURL_GLOBAL_DEFAULT, &std::malloc, &wipe_and_free, &move_and_wipe, &strdup, &std::calloc);
  (void)ready;
}

std::string why_it_failed(int code, std::string_view said) {
  static const Counts counts;
  if (said.empty()) return lower_first(curl_easy_strerror(static_cast<CURLcode>(code)));
  std::string out = lower_first(std::string(said));
  for (regmatch_t at; ::regexec(&counts.pattern, out.c_str(), 1, &at, 0) == 0;)
    out.erase(static_cast<size_t>(at.rm_so), static_cast<size_t>(at.rm_eo - at.rm_so));
  return out;
}

}  // namespace davit::http
