// The provider of actuator_naive: a folder in which each thing is a file of one line. A thing has a
// name, which it has alone, the uid of its owner, and a value. A thing is there whole or not at
// all.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <fcntl.h>
#include <unistd.h>

#include <davit/types.hpp>

namespace davit::actuator_naive {

struct Thing {
  std::string uid, value;
};

class World {
 public:
  explicit World(std::string folder) : folder_(std::move(folder)) {}

  Result<> make() const {
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    return failed ? away() : Result<>();
  }
  // The things whose names begin so.
  Result<std::map<std::string, Thing>> look(const std::string& begin) const {
    std::error_code failed;
    std::filesystem::directory_iterator at(folder_, failed), end;
    if (failed) return away();
    std::map<std::string, Thing> out;
    for (; !failed && at != end; at.increment(failed)) {
      const std::string name = at->path().filename();
      if (!name.starts_with(begin)) continue;
      Thing thing;
      std::ifstream in(at->path());
      if (in >> thing.uid && std::getline(in >> std::ws, thing.value)) out[name] = thing;
    }
    if (failed) return away();
    return out;
  }
  // ALREADY_EXISTS when there is one of this name, and it stays.
  Result<> add(const std::string& name, const Thing& thing) const {
    return put(name, thing, [](const char* from, const char* to) {
      const int linked = ::link(from, to);
      ::unlink(from);
      return linked;
    });
  }
  Result<> change(const std::string& name, const Thing& thing) const {
    return put(name, thing, &::rename);
  }
  Result<> remove(const std::string& name) const {
    if (::unlink((folder_ + "/" + name).c_str()) != 0) return away();
    return {};
  }

 private:
  template <class Move>
  Result<> put(const std::string& name, const Thing& thing, Move move) const {
    std::string written = folder_ + "/.new-XXXXXX";
    const int file = ::mkostemp(written.data(), O_CLOEXEC);
    if (file < 0) return away();
    const std::string line = thing.uid + " " + thing.value + "\n";
    const bool whole = ::write(file, line.data(), line.size()) == ssize_t(line.size());
    ::close(file);
    if (!whole) return away();
    if (move(written.c_str(), (folder_ + "/" + name).c_str()) == 0) return {};
    if (errno == EEXIST) return Error{Code::already_exists, "there is one of this name", name};
    return away();
  }
  static Error away() { return {Code::unavailable, "the provider is away"}; }
  std::string folder_;
};

}  // namespace davit::actuator_naive
