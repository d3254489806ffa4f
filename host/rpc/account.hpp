// Account does the bookkeeping of one admitted call: its metrics, its place in a quota, and a log
// line if its method refuses it. Admission makes it, and the call owns it until it is destroyed.
#pragma once

#include <chrono>
#include <string>

#include "end.hpp"
#include "method_registry.hpp"

namespace davit::host {

class Admission;
class Quota;

class Account {
 public:
  // The quota that the call occupies until this object is destroyed. NULL if none.
  struct Counted {
    Quota* quota;
    std::string whose;
  };
  Account(Admission&, const Method&, std::string peer, Counted);
  ~Account();
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  // Call once, when the end of the call is known. `by_method` says whether the method chose this
  // end. [any]
  void ended(const End&, bool by_method);

 private:
  Admission& admission_;
  const Method& method_;
  const std::string peer_;
  const Counted counted_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  bool ended_ = false;
};

}  // namespace davit::host
