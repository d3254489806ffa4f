// An append-only file of batches. A batch is on the disk when append() returns, whole or not at
// all: what a kill or a power cut leaves of one at the end of the file is removed when it is
// opened.
//
// A batch is its length and its CRC-32C, four bytes each, and its entries. An entry is a list of
// texts; numbers are written in decimal.
#pragma once

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <davit/packed.hpp>

namespace acme {

using davit::Code;
using davit::Error;
using davit::Result;

class Log {
 public:
  using Entry = std::vector<std::string>;
  using Batch = std::vector<Entry>;

  Log() = default;
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log() { close(); }

  // Opens the file, or makes it, and gives all its entries to `replay` in their order. UNAVAILABLE
  // when another process has it open. DATA_LOSS when it is damaged before its end.
  template <class Replay>
  Result<> open(const std::string& path, Replay replay) {
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file_ < 0) return failed(path + ": cannot be opened");
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0)
      return Error{Code::unavailable, path + ": another process has it open", path};
    // The name of a new file must survive a power cut, too.
    const auto folder = std::filesystem::absolute(path).parent_path();
    const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool kept = directory >= 0 && ::fsync(directory) == 0;
    if (directory >= 0) ::close(directory);
    if (!kept) return failed(folder.string() + ": cannot be synchronised");
    std::string all;
    if (!read(all)) return failed(path + ": cannot be read");
    std::string_view rest = all;
    while (true) {
      Batch batch;
      const auto taken = take(rest, batch);
      if (!taken.ok()) return taken.error().in(path);
      if (!*taken) break;
      for (const Entry& entry : batch) replay(entry);
    }
    end_ = static_cast<off_t>(all.size() - rest.size());
    if (::ftruncate(file_, end_) != 0) return failed(path + ": cannot be cut to its last batch");
    return {};
  }

  // An error: nothing of the batch is in the file, or nobody knows. Then every later append fails,
  // and the next open() finds out.
  Result<> append(const Batch& batch) {
    if (broken_)
      return Error{Code::unavailable, "an earlier write failed; restart to read what is there"};
    std::string body;
    for (const Entry& entry : batch) {
      number(body, static_cast<uint32_t>(entry.size()));
      for (const std::string& text : entry) {
        number(body, static_cast<uint32_t>(text.size()));
        body += text;
      }
    }
    std::string frame;
    number(frame, static_cast<uint32_t>(body.size()));
    number(frame, davit::packed::crc32c(body));
    frame += body;
    for (size_t at = 0; at < frame.size();) {
      const ssize_t n =
          ::pwrite(file_, frame.data() + at, frame.size() - at, end_ + static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        const Error error = failed("cannot write");
        broken_ = ::ftruncate(file_, end_) != 0;
        return error;
      }
      at += static_cast<size_t>(n);
    }
    // After a failed fdatasync the kernel may have dropped the pages: a second one proves nothing.
    if (::fdatasync(file_) != 0) {
      broken_ = true;
      return failed("cannot synchronise");
    }
    end_ += static_cast<off_t>(frame.size());
    return {};
  }

  void close() {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
  }

 private:
  static Error failed(const std::string& what) {
    return {Code::unavailable, what + ": " + std::strerror(errno)};
  }
  static void number(std::string& out, uint32_t n) {
    for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(n >> shift);
  }
  static bool number(std::string_view& from, uint32_t& out) {
    if (from.size() < 4) return false;
    out = 0;
    for (size_t i = 4; i > 0; --i) out = out << 8 | static_cast<uint8_t>(from[i - 1]);
    from.remove_prefix(4);
    return true;
  }
  static bool texts(std::string_view& from, uint32_t count, Entry& out) {
    for (uint32_t size = 0; count > 0; --count) {
      if (!number(from, size) || size > from.size()) return false;
      out.emplace_back(from.substr(0, size));
      from.remove_prefix(size);
    }
    return true;
  }
  // Takes a batch from the front. False: there is no whole one, and what is left is the tail.
  static Result<bool> take(std::string_view& rest, Batch& out) {
    std::string_view at = rest;
    uint32_t size = 0, crc = 0;
    if (!number(at, size) || !number(at, crc) || size > at.size()) return false;
    std::string_view body = at.substr(0, size);
    at.remove_prefix(size);
    if (davit::packed::crc32c(body) != crc) {
      if (at.empty()) return false;  // the file was longer on the disk than what was written of it
      return Error{Code::data_loss,
                   "damaged " + std::to_string(at.size()) + " bytes before its end"};
    }
    for (uint32_t count = 0; !body.empty();) {
      if (!number(body, count) || !texts(body, count, out.emplace_back()) || count == 0)
        return Error{Code::data_loss, "a batch is malformed"};
    }
    rest = at;
    return true;
  }
  bool read(std::string& all) const {
    struct stat status {};
    if (::fstat(file_, &status) != 0) return false;
    all.resize(static_cast<size_t>(status.st_size));
    size_t at = 0;
    while (at < all.size()) {
      const ssize_t n = ::pread(file_, all.data() + at, all.size() - at, static_cast<off_t>(at));
      if (n <= 0) return false;
      at += static_cast<size_t>(n);
    }
    return true;
  }

  int file_ = -1;
  off_t end_ = 0;
  bool broken_ = false;
};

}  // namespace acme
