// The directory with a folder for each cluster. A folder is one cluster's from the moment on that
// it has its name, since it is made under another name and then renamed. What a kill or a power cut
// leaves is either such a folder, or one that says in its name whose it is:
//
//   default_web/          a cluster: namespace_name
//     .uid                whose it is
//     kubeconfig          a file that the providerSpec names
//   .0b3f-....new/        is being made, and has no name yet
//   .0b3f-....gone/       is being removed, and has no name any more
//
// A directory without the file `.here` is not the one: perhaps it is where a volume was to be
// mounted. Every function then fails, so that nothing seems to be removed that could not be seen.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <davit/types.hpp>

namespace acme {

using davit::Code;
using davit::Error;
using davit::Result;

// Closes a file descriptor.
class Open {
 public:
  explicit Open(int fd = -1) : fd_(fd) {}
  Open(Open&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Open& operator=(Open o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~Open();
  int get() const { return fd_; }

 private:
  int fd_;
};

// The directory, open: what is done goes to the same one, also when it is moved meanwhile. Each
// function returns when what it did is on the disk.
class Disk {
 public:
  // Makes the directory and its mark if there is no directory yet.
  static Result<> make(const std::string& path);
  static Result<Disk> open(const std::string& path);

  // The uid of the cluster whose folder this is. Nothing: there is no such folder.
  Result<std::optional<std::string>> owner(const std::string& folder) const;
  // Makes the folder. ALREADY_EXISTS when somebody was faster.
  Result<> claim(const std::string& folder, const std::string& uid) const;
  // Removes what a kill has left of a file that was being written.
  Result<> clean(const std::string& folder) const;
  // When the folder was made, in milliseconds since 1970.
  Result<int64_t> made_at_ms(const std::string& folder) const;
  // The files that a providerSpec has named, and their content.
  Result<std::map<std::string, std::string>> files(const std::string& folder) const;
  Result<> put(const std::string& folder, const std::string& file,
               const std::string& content) const;
  Result<> drop(const std::string& folder, const std::string& file) const;
  // Takes the folder its name, at once. sweep() removes it.
  Result<> retire(const std::string& folder, const std::string& uid) const;
  // Removes all of a cluster that has no name.
  Result<> sweep(const std::string& uid) const;

 private:
  explicit Disk(Open directory) : directory_(std::move(directory)) {}
  Result<> remove(const std::string& folder) const;
  Open directory_;
};

}  // namespace acme
