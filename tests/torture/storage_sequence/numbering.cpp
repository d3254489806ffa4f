// The numbers come from a sequence, as in a table with a serial column, and transactions run side
// by side. So a lower number may become visible after a higher one, and whoever has read up to the
// higher one never reads the lower one. Takes the place of plugins/storage_postgres/numbering.cpp.
#include "numbering.hpp"

#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

// The head is the newest version that can be read, or could be before a purge. Of what several
// transactions write at once the higher one stays.
constexpr Statement update_store = {
    "update_store_of_sequence",
    "UPDATE store SET head = greatest(head, (SELECT max(version) FROM records)), status_head = "
    "greatest(status_head, $1::bigint), purged_through = greatest(purged_through, $2::bigint), "
    "incarnation = $3::numeric, system_identifier = $4, timeline = $5, server_started_at = "
    "pg_postmaster_start_time(), written_by = txid_current() RETURNING head"};

}  // namespace

// The row is not locked. Records are, before they are read, so that changes of one record follow
// each other, as they do in such a store: the first attempt of each transaction ends here, and the
// next one waits for the records. torture.py makes the sequence, with room for the versions of one
// commit between two of its numbers.
StoreState take_counters(Session& session) {
  thread_local bool locked = true;
  locked = !locked;
  if (!locked) throw Fault(Fault::Kind::conflict, {Code::aborted, "the records are not locked"});
  StoreState state = read_store(session, "SET LOCAL lock_timeout = '10ms'");
  const auto rows = session.script("SELECT nextval('public.versions')");
  state.head.head.version = Version(to_number(rows[0][0].c_str()));
  return state;
}

void leave_counters(Session& session, Head& head) {
  const auto row =
      session.ask(update_store, {to_string(head.status_head), to_string(head.purged_through),
                                 to_string(head.head.incarnation),
                                 session.server().system_identifier, session.server().timeline});
  head.head.version = Version(to_number(row[0][0].c_str()));
}

}  // namespace davit::storage_postgres
