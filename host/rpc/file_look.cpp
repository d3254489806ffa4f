#include "file_look.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <ctime>

namespace davit::host {

namespace {

int64_t to_ns(const timespec& t) {
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

std::optional<FileLook> FileLook::of(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) == 0) {
    return FileLook{to_ns(st.st_mtim), to_ns(st.st_ctim), st.st_ino,
                    static_cast<uint64_t>(st.st_size)};
  }
  if (errno == ENOENT) return std::nullopt;
  return FileLook{};
}

bool FileLook::settled() const {
  // File systems distinguish times a few milliseconds apart; coarse ones, two seconds.
  constexpr int64_t coarse_ns = 2'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return to_ns(now) - changed_ns > coarse_ns;
}

}  // namespace davit::host
