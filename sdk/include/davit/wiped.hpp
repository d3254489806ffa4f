// Wiped: bytes that arrive piece by piece and must not stay in memory, such as the body of an
// answer with secrets. Its pages are left out of core dumps. They are overwritten before they are
// given back, and they grow without leaving a copy behind.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace davit {

class Wiped {
 public:
  Wiped() = default;
  explicit Wiped(std::string_view bytes) { append(bytes); }
  Wiped(Wiped&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)),
        size_(std::exchange(o.size_, 0)),
        mapped_(std::exchange(o.mapped_, 0)) {}
  Wiped& operator=(Wiped&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    std::swap(mapped_, o.mapped_);
    return *this;
  }
  ~Wiped() {
    clear();
    if (data_ != nullptr) munmap(data_, mapped_);
  }

  // Throws std::bad_alloc.
  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    if (bytes.size() > mapped_ - size_) grow(size_ + bytes.size());
    std::memcpy(data_ + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  // Overwrites what is in it, and keeps the room.
  void clear() {
    if (data_ != nullptr) explicit_bzero(data_, size_);
    size_ = 0;
  }
  // Overwrites all behind so many bytes.
  void shorten(size_t size) {
    if (size >= size_) return;
    explicit_bzero(data_ + size, size_ - size);
    size_ = size;
  }
  // Borrowed: valid until the next change.
  std::string_view view() const { return {data_ == nullptr ? "" : data_, size_}; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  // The kernel moves the pages instead of copying them.
  void grow(size_t least) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_t wanted = mapped_ == 0 ? page : 2 * mapped_;
    if (wanted < least) wanted = (least + page - 1) / page * page;
    void* moved = data_ == nullptr ? mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                   : mremap(data_, mapped_, wanted, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) throw std::bad_alloc();
    madvise(moved, wanted, MADV_DONTDUMP);
    data_ = static_cast<char*>(moved);
    mapped_ = wanted;
  }

  char* data_ = nullptr;
  size_t size_ = 0, mapped_ = 0;
};

}  // namespace davit
