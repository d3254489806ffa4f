// The part that depends on the version of libpqxx: 6.4, as Debian 12 has it, or 7. Everything else
// uses what both have.
#pragma once

#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <vector>

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
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
}

#endif

}  // namespace davit::storage_postgres
