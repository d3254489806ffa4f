#include "libcurl.hpp"

#include <curl/curl.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

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

}  // namespace

void start_libcurl() {
  static const CURLcode ready = curl_global_init_mem(
      CURL_GLOBAL_DEFAULT, &std::malloc, &wipe_and_free, &move_and_wipe, &strdup, &std::calloc);
  (void)ready;
}

}  // namespace davit::http
