// Bytes that nobody else may see, in memory of libsodium's: left out of core dumps, locked where
// the system allows it, between guard pages, and wiped before it is given back.
#pragma once

#include <sodium.h>

#include <memory>
#include <new>
#include <string_view>
#include <utility>

namespace davit::secrets_file {

class LockedBytes {
 public:
  LockedBytes() = default;
  // The content is arbitrary. Throws std::bad_alloc.
  explicit LockedBytes(size_t size) : size_(size) {
    if (size == 0) return;
    data_.reset(static_cast<unsigned char*>(sodium_malloc(size)));
    if (!data_) throw std::bad_alloc();
  }
  LockedBytes(LockedBytes&& o) noexcept
      : data_(std::move(o.data_)), size_(std::exchange(o.size_, 0)) {}
  LockedBytes& operator=(LockedBytes&& o) noexcept {
    data_ = std::move(o.data_);
    size_ = std::exchange(o.size_, 0);
    return *this;
  }

  unsigned char* data() const { return data_.get(); }
  size_t size() const { return size_; }
  // Borrowed: valid while these bytes live.
  std::string_view view() const {
    return {data_ ? reinterpret_cast<const char*>(data_.get()) : "", size_};
  }
  // Forgets what is behind the first `size` bytes. The memory stays, and is wiped with the rest.
  void shorten(size_t size) { size_ = size < size_ ? size : size_; }

 private:
  struct Free {
    void operator()(unsigned char* data) const { sodium_free(data); }
  };
  std::unique_ptr<unsigned char, Free> data_;
  size_t size_ = 0;
};

}  // namespace davit::secrets_file
