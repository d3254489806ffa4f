#include "wiped_json.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace davit::secret_store {
namespace {

namespace json = boost::json;

size_t whole_pages(size_t bytes) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// The parser has taken strings with escapes apart on the stack.
[[gnu::noinline]] void wipe_stack() {
  char below[32u << 10];
  explicit_bzero(below, sizeof below);
}

constexpr size_t scratch_bytes = 16u << 10;

}  // namespace

void* WipedJson::Pages::do_allocate(size_t bytes, size_t) {
  void* memory =
      mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  madvise(memory, whole_pages(bytes), MADV_DONTDUMP);
  return memory;
}

void WipedJson::Pages::do_deallocate(void* memory, size_t bytes, size_t) {
  explicit_bzero(memory, bytes);
  munmap(memory, whole_pages(bytes));
}

WipedJson::WipedJson(std::string_view text)
    : memory_(scratch_bytes + 2 * text.size(), json::storage_ptr(&pages_)),
      value_(json::storage_ptr(&memory_)) {
  auto* scratch = static_cast<unsigned char*>(memory_.allocate(scratch_bytes));
  json::parser parser(json::storage_ptr(&memory_), json::parse_options(), scratch, scratch_bytes);
  parser.reset(json::storage_ptr(&memory_));
  boost::system::error_code error;
  parser.write(text.data(), text.size(), error);
  if (!error) {
    value_ = parser.release();
    object_ = value_.if_object();
  }
  wipe_stack();
}

const json::object* object_in(const json::object* in, std::string_view name) {
  const auto* found = in == nullptr ? nullptr : in->if_contains(name);
  return found == nullptr ? nullptr : found->if_object();
}

const json::array* array_in(const json::object* in, std::string_view name) {
  const auto* found = in == nullptr ? nullptr : in->if_contains(name);
  return found == nullptr ? nullptr : found->if_array();
}

std::string_view text_in(const json::object* in, std::string_view name) {
  const auto* found = in == nullptr ? nullptr : in->if_contains(name);
  const auto* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

}  // namespace davit::secret_store
