// ConnectionLimits limits the connections of one listener, in all and for each address. It logs
// when a limit is reached and when that is over, and reports it to the host's health. Acceptor asks
// it for each new connection. All functions may be called from any thread.
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

class ConnectionLimits {
 public:
  ConnectionLimits(const Core&, const ServerSettings&);

  // False if the connection must be closed. Otherwise the connection counts until `leave`.
  bool enter(const std::string& address);
  void leave(const std::string& address);
  // Whether `enter` would accept a connection of this address now.
  bool has_room(const std::string& address) const;
  // The system lets no waiting connection be accepted, for the reason in this errno: the process
  // has no descriptor left, for example.
  void starve(int error);
  // Call it once a second. Logs which conditions are over.
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
  std::string starved_of_;  // for the health, while `starved_` is on
  int32_t told_ = DAVIT_HEALTH_SERVING;
  std::string told_why_;
};

}  // namespace davit::host
