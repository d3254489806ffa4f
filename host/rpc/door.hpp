// Which connections of a listener are let in: so many in all, so many of one address. Says when a
// limit is met and when that is over, and makes readiness of it. Any thread.
#pragma once

#include <mutex>
#include <string>

#include <davit/abi/services.h>

#include "episode.hpp"
#include "quota.hpp"

namespace davit::host {

struct Core;
struct ServerSettings;
class Health;
class Log;

class Door {
 public:
  Door(const Core&, const ServerSettings&);

  // False: this one is to be closed. Otherwise it counts until it leaves.
  bool enter(const std::string& address);
  void leave(const std::string& address);
  // Whether it would be let in.
  bool has_room(const std::string& address) const;
  // No descriptor was left for a connection that waits.
  void starve();
  // Once a second: says what is over.
  void look_after();
  size_t size() const;

 private:
  void refused(Quota::Verdict, const std::string& address);
  void tell_health();

  const std::string server_;
  const size_t most_, of_one_address_;
  Log& log_;
  Health& health_;
  davit_metric* const connections_;
  davit_metric* const refused_;
  mutable std::mutex mutex_;
  Quota quota_;
  Episode full_, address_full_, starved_;
  int32_t told_ = DAVIT_HEALTH_SERVING;
};

}  // namespace davit::host
