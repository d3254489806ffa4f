// Telling: what is said about a record: upward its status when it has changed; upward and in the
// log its issue when that begins, changes or ends. On the applier's strand.
#pragma once

#include <optional>

#include <davit/host.hpp>
#include <davit/sink.hpp>

#include "slot.hpp"

namespace davit::applier {

// A dead record of which nobody has said yet that nothing is left of it. Its name is empty when
// another record has it.
struct Lingering {
  std::string id, ns, name;
  uint64_t version = 0;
};

class Telling {
 public:
  Telling(Host host, std::optional<sink::StatusClient> to, std::string region)
      : host_(std::move(host)), to_(std::move(to)), region_(std::move(region)) {}

  // Offers the status when it is not what was told last. Key, names and parked reason are filled in
  // here.
  void status(const std::string& kind, Slot& slot, Status status) const;
  // Of a record whose name is another one's now the name is left empty.
  void gone(const std::string& kind, const Lingering& dead) const;
  // Condition empty: it ends.
  void issue(const std::string& kind, Slot& slot, const std::string& condition,
             const std::string& reason) const;
  // An issue of a kind as a whole; `name` is what it is about. Reason empty: it ends.
  void of_kind(const std::string& kind, const std::string& name, const std::string& condition,
               const std::string& reason) const;

 private:
  void log(const std::string& kind, const Slot& slot, const std::string& condition,
           const std::string& reason) const;

  Host host_;
  std::optional<sink::StatusClient> to_;
  std::string region_;
};

}  // namespace davit::applier
