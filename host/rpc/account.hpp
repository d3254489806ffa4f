// What a call that was let in counts for: in metrics, in the log when its method refuses it, and
// among those that may be open at once. Lives as long as the call.
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
  // Where it counts until it goes; NULL: nowhere.
  struct Counted {
    Quota* quota;
    std::string whose;
  };
  Account(Admission&, const Method&, std::string peer, Counted);
  ~Account();
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  // Once, from any thread. `by_method`: it was the method that said so.
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
