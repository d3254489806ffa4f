#include "fault.hpp"

namespace davit::storage_postgres {
namespace {

struct Meaning {
  const char* sqlstate;  // or the two characters of a class
  Fault::Kind kind;
  Code code;
  const char* advice;  // behind the server's words
};

// The first that fits counts.
constexpr Meaning meanings[] = {
    {"40001", Fault::Kind::conflict, Code::unavailable, ""},  // serialization_failure
    {"40P01", Fault::Kind::conflict, Code::unavailable, ""},  // deadlock_detected
    {"55P03", Fault::Kind::waited, Code::unavailable,
     ": another session holds a lock; see pg_locks and pg_stat_activity"},
    {"57014", Fault::Kind::stopped, Code::unavailable, ""},  // query_canceled
    {"08", Fault::Kind::lost, Code::unavailable, ""},
    {"57P01", Fault::Kind::lost, Code::unavailable, ""},  // admin_shutdown
    {"57P02", Fault::Kind::lost, Code::unavailable, ""},  // crash_shutdown
    {"57P03", Fault::Kind::lost, Code::unavailable, ""},  // cannot_connect_now
    {"57P05", Fault::Kind::lost, Code::unavailable, ""},  // idle_session_timeout
    {"25P03", Fault::Kind::lost, Code::unavailable,
     ": this process was too slow between two statements (idle_in_transaction_timeout_ms)"},
    {"25006", Fault::Kind::other, Code::failed_precondition,
     ": it is a replica or was made read-only; name the primary (target_session_attrs=read-write)"},
    {"53100", Fault::Kind::other, Code::resource_exhausted, ": the server's disk is full"},
    {"53300", Fault::Kind::other, Code::unavailable,
     ": raise the server's max_connections or the role's limit, or lower pool_threads"},
    {"53", Fault::Kind::other, Code::resource_exhausted, ""},
    {"42501", Fault::Kind::other, Code::failed_precondition,
     ": grant the right to the role; the plugin's README lists all"},
    {"3D", Fault::Kind::other, Code::failed_precondition, ": create it, or name another"},
    {"28", Fault::Kind::other, Code::failed_precondition, ""},  // invalid authorization
    {"42", Fault::Kind::other, Code::failed_precondition,
     ": a table is not as `davit storage migrate` made it; `davit check` says which"},
    {"23", Fault::Kind::other, Code::failed_precondition,
     ": a constraint that Davit did not make, or rows that somebody else wrote, refuse it"},
    {"XX001", Fault::Kind::other, Code::data_loss, ": the server found damaged data"},
    {"XX002", Fault::Kind::other, Code::data_loss, ": the server found a damaged index: REINDEX"},
    {"58", Fault::Kind::other, Code::unavailable, ": the server cannot use its disk"},
    {"", Fault::Kind::other, Code::internal, ""},
};

}  // namespace

std::string first_line(std::string_view words) {
  std::string out(words.substr(0, words.find('\n')));
  for (const std::string_view severity : {"ERROR:  ", "FATAL:  ", "PANIC:  "}) {
    if (out.starts_with(severity)) out.erase(0, severity.size());
  }
  return out;
}

Fault fault_of(const std::string& sqlstate, const std::string& words) {
  for (const Meaning& meaning : meanings) {
    if (!sqlstate.starts_with(meaning.sqlstate)) continue;
    return {meaning.kind, {meaning.code, first_line(words) + meaning.advice}};
  }
  return Fault({Code::internal, first_line(words)});
}

}  // namespace davit::storage_postgres
