// The part that depends on the version of libpqxx: 6.4, as Debian 12 has it, or 7. Everything else
// uses what both have. What a version calls deprecated here is all that it has in common with
// another one: exec_prepared() and notification_receiver of 7.10, inhibit_reactivation() of 6.4.
#pragma once

#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace davit::storage_postgres {

// Parameters of a statement in PostgreSQL's text form. nullopt is NULL.
using Values = std::vector<std::optional<std::string>>;

#if PQXX_VERSION_MAJOR >= 7

inline pqxx::result run_prepared(pqxx::transaction_base& work, const std::string& name,
                                 const Values& values) {
  pqxx::params params;
  for (const auto& value : values) {
    if (value) {
      params.append(*value);
    } else {
      params.append();
    }
  }
  return work.exec_prepared(name, params);
}
inline void never_reconnect(pqxx::connection&) {}

#else

inline pqxx::result run_prepared(pqxx::transaction_base& work, const std::string& name,
                                 const Values& values) {
  std::vector<const char*> pointers;
  pointers.reserve(values.size());
  for (const auto& value : values) pointers.push_back(value ? value->c_str() : nullptr);
  return work.exec_prepared(name, pqxx::prepare::make_dynamic_params(pointers));
}
// libpqxx 6 opens a lost connection anew without a word, in the middle of a transaction.
inline void never_reconnect(pqxx::connection& connection) {
  connection.inhibit_reactivation(true);
}

#endif

class NotificationReceiver : public pqxx::notification_receiver {
 public:
  NotificationReceiver(pqxx::connection& connection, const std::string& channel)
      : pqxx::notification_receiver(connection, channel) {}
};

}  // namespace davit::storage_postgres

#pragma GCC diagnostic pop
