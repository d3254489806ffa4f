// The guard against an upstream that has lost its objects, such as a store that was restored
// empty. A list says what exists, and not why the rest is gone. So when one list lacks many of the
// objects whose copies are downstream, the deletes of these copies are held until an operator
// releases them or upstream has its objects again. A delete that a watch tells, one object at a
// time, is not held.
//
// Holds keeps the names of what is held in a file, so that a process that is killed goes on holding
// it. Used on the hub's strand.
#pragma once

#include <map>
#include <set>
#include <string>

#include <davit/host.hpp>

namespace davit::federation {

struct GuardLimits {
  size_t deletes_max = 10;          // as many are never held
  size_t deletes_max_percent = 50;  // of the copies downstream; 100: none is ever held
};

// Whether the deletes of so many copies, which one list has caused, are held. Pure.
bool holds(const GuardLimits& limits, size_t deletes, size_t copies);

class Holds {
 public:
  using Keys = std::set<std::string>;

  explicit Holds(Host host) : host_(host) {}
  // Reads the file. What cannot be read is said, and nothing is held by it.
  void load();
  Keys of(const std::string& resource, const std::string& ns) const;
  void set(const std::string& resource, const std::string& ns, const Keys& keys);

 private:
  void save();
  const Host host_;
  std::map<std::string, Keys> held_;  // by "resource namespace"
};

}  // namespace davit::federation
