#include "schema_steps.hpp"

namespace davit::storage_postgres {
namespace {

// Texts are compared byte by byte (COLLATE "C"), whatever the database's own collation is, and
// their indexes survive an upgrade of the operating system. There are no foreign keys: their checks
// lock rows of other tables, and would wait while the counters are held. The order in which a
// record's rows are written keeps the tables consistent (commit.cpp, statuses.cpp, purge.cpp).
constexpr const char* tables = R"sql(
CREATE TABLE store (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  head bigint NOT NULL,
  status_head bigint NOT NULL,
  purged_through bigint NOT NULL,
  incarnation numeric(20, 0) NOT NULL,
  system_identifier text NOT NULL,
  timeline text NOT NULL,
  server_started_at timestamptz NOT NULL,
  written_by bigint NOT NULL,
  loading text COLLATE "C"
) WITH (fillfactor = 10);
COMMENT ON TABLE store IS
  'One row: how far the store is. Every change of records or statuses updates it last, so '
  'this row orders them. Only davit may write to it.';
COMMENT ON COLUMN store.head IS 'the newest version of a record';
COMMENT ON COLUMN store.status_head IS 'the newest version of a status';
COMMENT ON COLUMN store.purged_through IS 'deleted records at or below this version are gone';
COMMENT ON COLUMN store.incarnation IS 'the incarnation that goes on';
COMMENT ON COLUMN store.system_identifier IS 'the server''s, when the incarnation began';
COMMENT ON COLUMN store.timeline IS 'the server''s, when the incarnation began';
COMMENT ON COLUMN store.server_started_at IS
  'when the server had been started, as the incarnation began';
COMMENT ON COLUMN store.written_by IS
  'the transaction that wrote this row; in a restored row it is another than the row''s '
  'xmin';
COMMENT ON COLUMN store.loading IS
  'NULL: the store is whole. Otherwise davit storage copy is bringing another store into it, and '
  'no server works with it: how far the copy is.';
INSERT INTO store VALUES (true, 0, 0, 0, 0, '', '', 'epoch', 0);

CREATE TABLE incarnations (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  incarnation numeric(20, 0) NOT NULL UNIQUE,
  first_version bigint NOT NULL,
  first_status_version bigint NOT NULL,
  began_at timestamptz NOT NULL DEFAULT now(),
  reason text COLLATE "C" NOT NULL
);
COMMENT ON TABLE incarnations IS
  'The stretches of the store''s history, the oldest first. In one of them no version was '
  'lost or given twice. The newest 1,000 are kept.';
COMMENT ON COLUMN incarnations.first_version IS 'the first version of a record that it may give';
COMMENT ON COLUMN incarnations.first_status_version IS
  'the first version of a status that it may give';
COMMENT ON COLUMN incarnations.reason IS 'why it was not proven that nothing had been lost';

-- Returns NULL for what jsonb cannot hold, instead of an error.
CREATE FUNCTION as_jsonb(content text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT AS $body$
BEGIN
  RETURN content::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded OR statement_too_complex THEN
  RETURN NULL;
END
$body$;
COMMENT ON FUNCTION as_jsonb(text) IS
  'the text as jsonb, or NULL when it is no JSON that jsonb can hold';

CREATE TABLE records (
  kind text COLLATE "C" NOT NULL,
  region text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  live boolean NOT NULL,
  name_taken boolean NOT NULL,
  ns text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  author text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  committed_at timestamptz(3) NOT NULL,
  annotations json,
  json jsonb,
  payload bytea NOT NULL,
  CONSTRAINT records_key PRIMARY KEY (kind, region, id)
);
CREATE UNIQUE INDEX records_version ON records (version);
CREATE UNIQUE INDEX records_live_name ON records (kind, region, ns, name) WHERE live;
CREATE INDEX records_name ON records (kind, region, name, ns);
CREATE INDEX records_scope ON records (kind, region, version);
CREATE INDEX records_dead ON records (version) WHERE NOT live;
COMMENT ON TABLE records IS
  'Desired state: one row for each record, at its newest version. Only davit may write to '
  'it.';
COMMENT ON COLUMN records.version IS
  'of the whole store: whoever was changed later has a higher one';
COMMENT ON COLUMN records.live IS 'false: deleted, and kept until every agent has heard of it';
COMMENT ON COLUMN records.name_taken IS 'deleted, and another record has its name now';
COMMENT ON COLUMN records.ns IS 'the namespace in the cluster';
COMMENT ON COLUMN records.name IS 'the name in the cluster';
COMMENT ON COLUMN records.state IS 'a word of the kind, or deleted';
COMMENT ON COLUMN records.request_id IS 'the request that changed it last';
COMMENT ON COLUMN records.json IS 'the payload, readable; NULL when jsonb cannot hold it';
COMMENT ON COLUMN records.payload IS 'the message of the kind, as agents get it';

CREATE TABLE requests (
  request_id text COLLATE "C" PRIMARY KEY,
  first_version bigint NOT NULL,
  committed_at timestamptz NOT NULL
);
CREATE INDEX requests_first_version ON requests (first_version);
COMMENT ON TABLE requests IS
  'Requests that were carried out, so that a repeated one is answered as the first time: '
  'for ten minutes and for 100,000 versions.';
COMMENT ON COLUMN requests.request_id IS
  'the id; behind its last line break stands a fingerprint of the request';

CREATE TABLE batches (
  batch text COLLATE "C" PRIMARY KEY,
  committed_at timestamptz NOT NULL
);
CREATE INDEX batches_committed_at ON batches (committed_at);
COMMENT ON TABLE batches IS
  'The commits of the last minutes. A server whose connection was lost during a commit '
  'looks here whether it was kept.';

CREATE TABLE statuses (
  kind text COLLATE "C" NOT NULL,
  region text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  status_version bigint NOT NULL,
  gone boolean NOT NULL,
  observed_version bigint NOT NULL,
  health text COLLATE "C" NOT NULL,
  desired bigint NOT NULL,
  updated bigint NOT NULL,
  ready bigint NOT NULL,
  stale bigint NOT NULL,
  message text COLLATE "C" NOT NULL,
  parked text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL,
  sequence bigint NOT NULL,
  reported_at_unix_ms bigint NOT NULL,
  detail text COLLATE "C" NOT NULL,
  CONSTRAINT statuses_key PRIMARY KEY (kind, region, id)
);
CREATE UNIQUE INDEX statuses_version ON statuses (status_version);
CREATE INDEX statuses_scope ON statuses (kind, region, status_version);
COMMENT ON TABLE statuses IS
  'Observed state: what the agents have reported last, one row for each record.';
COMMENT ON COLUMN statuses.gone IS 'nothing is left in the cluster';
COMMENT ON COLUMN statuses.observed_version IS
  'the version of the record that it speaks of; 0 = not known';
COMMENT ON COLUMN statuses.desired IS 'how many there should be';
COMMENT ON COLUMN statuses.stale IS 'how many are of an older template';
COMMENT ON COLUMN statuses.parked IS 'why the record is parked; empty = it is not';
COMMENT ON COLUMN statuses.epoch IS
  'orders the agents of a region; epoch and sequence order the reports';

CREATE TABLE children (
  kind text COLLATE "C" NOT NULL,
  region text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  cpu_millicores bigint NOT NULL,
  memory_mib bigint NOT NULL,
  CONSTRAINT children_key PRIMARY KEY (kind, region, id, name)
);
COMMENT ON TABLE children IS
  'The parts of a record''s object that are reported one by one, such as its pods.';
COMMENT ON COLUMN children.status IS 'pending, running, failed or inactive';

CREATE TABLE agents (
  region text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  software text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL,
  seen_at_unix_ms bigint NOT NULL,
  CONSTRAINT agents_key PRIMARY KEY (region, agent)
);
COMMENT ON TABLE agents IS 'The agents that have reported progress.';

CREATE TABLE agent_kinds (
  region text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  ordinal integer NOT NULL,
  kind text COLLATE "C" NOT NULL,
  incarnation numeric(20, 0) NOT NULL,
  applied_version bigint NOT NULL,
  CONSTRAINT agent_kinds_key PRIMARY KEY (region, agent, ordinal)
);
COMMENT ON TABLE agent_kinds IS 'How far an agent is with a kind.';
COMMENT ON COLUMN agent_kinds.applied_version IS
  'every record of the kind up to this version is applied, held or parked';

CREATE TABLE agent_issues (
  region text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  ordinal integer NOT NULL,
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  ns text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  incarnation numeric(20, 0) NOT NULL,
  condition text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  CONSTRAINT agent_issues_key PRIMARY KEY (region, agent, ordinal)
);
COMMENT ON TABLE agent_issues IS
  'What a person may have to look at: parked, held, orphaned and other objects.';
COMMENT ON COLUMN agent_issues.condition IS
  'parked, held, orphaned, delayed, blind, denied or another word';
)sql";

constexpr const char* views = R"sql(
CREATE FUNCTION as_time(unix_ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT AS $body$
  SELECT CASE WHEN unix_ms BETWEEN 0 AND 253402300799999 THEN to_timestamp(unix_ms / 1000.0) END
$body$;
COMMENT ON FUNCTION as_time(bigint) IS
  'milliseconds since 1970 as a time; NULL before 1970 and after the year 9999';

CREATE VIEW workloads AS
SELECT r.kind, r.region, r.id, r.ns, r.name, r.live, r.state, r.version, r.committed_at, r.author,
  s.health, s.gone, s.desired, s.updated, s.ready, s.message, s.parked,
  coalesce(s.observed_version, 0) >= r.version AS up_to_date,
  as_time(s.reported_at_unix_ms) AS reported_at, r.json
FROM records r LEFT JOIN statuses s USING (kind, region, id);
COMMENT ON VIEW workloads IS 'Desired and observed state side by side.';
COMMENT ON COLUMN workloads.up_to_date IS 'the status speaks of the record''s newest version';

CREATE VIEW agent_progress AS
SELECT a.region, a.agent, a.software, as_time(a.seen_at_unix_ms) AS seen_at, k.kind,
  k.applied_version, s.head - k.applied_version AS behind
FROM agents a JOIN agent_kinds k USING (region, agent) CROSS JOIN store s;
COMMENT ON VIEW agent_progress IS 'How far each agent is with each kind.';
COMMENT ON COLUMN agent_progress.behind IS
  'how many versions of the whole store it has not confirmed';
)sql";

constexpr const char* intents = R"sql(
CREATE TABLE intents (
  id bigint GENERATED ALWAYS AS IDENTITY,
  document text NOT NULL,
  author text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  decided_at timestamptz,
  version bigint,
  incarnation numeric(20, 0),
  code text COLLATE "C",
  field text COLLATE "C",
  error text COLLATE "C",
  state text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN decided_at IS NULL THEN 'open'
    WHEN code IS NULL THEN 'done' ELSE 'failed' END) STORED,
  CONSTRAINT intents_key PRIMARY KEY (id),
  CONSTRAINT a_document_has_at_most_3_mib CHECK (octet_length(document) <= 3145728)
);
CREATE INDEX intents_open ON intents (id) WHERE decided_at IS NULL;
CREATE INDEX intents_decided ON intents (decided_at) WHERE decided_at IS NOT NULL;
COMMENT ON TABLE intents IS
  'What other programs want records to be: they insert a document in a transaction of their '
  'own, and davit carries it out and writes the outcome into the row. Delete an open row to '
  'withdraw it.';
COMMENT ON COLUMN intents.document IS 'JSON, as davit apply takes it; "delete": true deletes';
COMMENT ON COLUMN intents.author IS 'the role that inserted the row; the database writes it';
COMMENT ON COLUMN intents.decided_at IS 'when the outcome was written; NULL: it is open';
COMMENT ON COLUMN intents.version IS
  'the record''s version that this intent made or found; NULL: open, failed, or there is no record';
COMMENT ON COLUMN intents.incarnation IS 'the incarnation of version';
COMMENT ON COLUMN intents.code IS 'the kind of error, such as INVALID_ARGUMENT';
COMMENT ON COLUMN intents.field IS 'the field of the document that is at fault';
COMMENT ON COLUMN intents.error IS 'why it failed, for people';
COMMENT ON COLUMN intents.state IS 'open, done or failed';

-- Whoever inserts says what, and nothing else.
CREATE FUNCTION begin_intent() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  NEW.author := current_user;
  NEW.created_at := now();
  NEW.decided_at := NULL;
  NEW.version := NULL;
  NEW.incarnation := NULL;
  NEW.code := NULL;
  NEW.field := NULL;
  NEW.error := NULL;
  RETURN NEW;
END
$body$;
CREATE TRIGGER begin_intent BEFORE INSERT ON intents FOR EACH ROW EXECUTE FUNCTION begin_intent();

-- Tells the servers, on the channel that has the schema's name: 8 is DAVIT_HINT_INTENTS.
CREATE FUNCTION tell_of_intents() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM pg_notify(TG_TABLE_SCHEMA, '8');
  RETURN NULL;
END
$body$;
CREATE TRIGGER tell_of_intents AFTER INSERT ON intents FOR EACH STATEMENT
  EXECUTE FUNCTION tell_of_intents();
)sql";

}  // namespace

const std::vector<SchemaStep>& schema_steps() {
  static const std::vector<SchemaStep> steps = {
      {"make the tables of the store", tables},
      {"make views for people: workloads, agent_progress", views},
      {"make the table of intents", intents},
  };
  return steps;
}

std::string misfit(const std::string& it, int has, int needs) {
  if (has == needs) return {};
  const std::string versions = it + " has version " + std::to_string(has);
  if (has > needs) {
    return versions + ", newer than " + std::to_string(needs) +
           ", the newest that this davit knows: start a newer davit, or name another database";
  }
  return versions + ", and this davit needs " + std::to_string(needs) +
         ": stop the servers of the older davit and run `davit storage migrate CONFIG...`";
}

}  // namespace davit::storage_postgres
