// Secret: a plaintext that is kept no longer than needed. Its memory is left out of core dumps and
// overwritten before it is given back.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <new>
#include <string_view>

namespace davit {

class Secret {
 public:
  Secret() = default;
  // Copies the plaintext into pages of its own. Throws std::bad_alloc.
  explicit Secret(std::string_view plaintext) {
    if (plaintext.empty()) return;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t mapped = (plaintext.size() + page - 1) / page * page;
    void* memory =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, mapped, MADV_DONTDUMP);
    data_ = {static_cast<char*>(memory), Wipe{plaintext.size(), mapped}};
    std::memcpy(data_.get(), plaintext.data(), plaintext.size());
  }

  // Borrowed: valid while this Secret lives.
  std::string_view view() const { return {data_ ? data_.get() : "", size()}; }
  size_t size() const { return data_ ? data_.get_deleter().size : 0; }

 private:
  struct Wipe {
    size_t size, mapped;
    void operator()(char* data) const {
      explicit_bzero(data, size);
      munmap(data, mapped);
    }
  };
  std::unique_ptr<char, Wipe> data_;
};

}  // namespace davit
