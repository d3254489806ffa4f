// Secret: a plaintext that is kept no longer than needed. Its memory is left out of core dumps and
// overwritten before it is given back.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace davit {

class Secret {
 public:
  Secret() = default;
  // Copies the plaintext into pages of its own. Throws std::bad_alloc.
  explicit Secret(std::string_view plaintext) : size_(plaintext.size()) {
    if (size_ == 0) return;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (size_ + page - 1) / page * page;
    void* memory =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, mapped_, MADV_DONTDUMP);
    data_ = static_cast<char*>(memory);
    std::memcpy(data_, plaintext.data(), size_);
  }
  Secret(Secret&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        mapped_(std::exchange(other.mapped_, 0)) {}
  Secret& operator=(Secret other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  ~Secret() {
    if (data_ == nullptr) return;
    explicit_bzero(data_, size_);
    munmap(data_, mapped_);
  }

  // Borrowed: valid while this Secret lives.
  std::string_view view() const { return {data_ == nullptr ? "" : data_, size_}; }
  size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t mapped_ = 0;
};

}  // namespace davit
