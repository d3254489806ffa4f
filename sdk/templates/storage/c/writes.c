#define _DEFAULT_SOURCE 1 /* more than C99: with -std=c99 the headers of libc ask for it */

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "change.h"
#include "store.h"

/* S6: ten minutes or 100,000 versions, whichever is longer. */
enum { REQUESTS_KEPT_MS = 600000, REQUESTS_KEPT = 100000 };

/* Writes what has changed into the log, or takes it back. */
static int32_t write_change(davit_instance* self, change* c, davit_error* error) {
  const buffer* entries = &c->entries;
  int32_t code = DAVIT_OK;
  if (entries->size > 0) code = log_append(&self->log, entries->data, entries->size, error);
  if (code == DAVIT_OK)
    keep_change(c);
  else
    take_change_back(c);
  return code;
}

/* The end of a call that has the lock and says with `code` how it went. */
static int32_t end_call(davit_instance* self, change* c, int32_t code, uint32_t hint,
                        davit_error* error) {
  if (code == DAVIT_OK)
    code = write_change(self, c, error);
  else
    take_change_back(c);
  unlock_store(self);
  if (code == DAVIT_OK && hint != 0) tell_watches(&self->watches, hint);
  return code;
}

/* --- groups --- */

/* The key of one of a group's records. */
typedef struct own_key {
  tree_node node;
  davit_key key;
} own_key;

/* A group while it is committed. */
typedef struct work {
  davit_instance* self;
  change* change;
  const davit_group* group;
  davit_group_result* result;
  tree keys; /* the items are those of `own` */
  own_key* own;
} work;

static int by_key(const void* a, const void* b) {
  return compare_keys(a, b);
}

static int32_t malformed(davit_error* error, davit_str id, const char* what) {
  return fail(error, DAVIT_INVALID_ARGUMENT, id, what);
}

/* Whether the group is one, whatever the store has. */
static int32_t judge_group(work* w) {
  const davit_group* group = w->group;
  davit_error* error = &w->result->error;
  if (group->mutations_count == 0) return malformed(error, text(""), "a group needs a mutation");
  w->keys.compare = by_key;
  w->own = calloc(group->mutations_count, sizeof *w->own);
  if (w->own == NULL) return no_memory(error);
  for (uint32_t i = 0; i < group->mutations_count; ++i) {
    const davit_record* r = group->mutations[i]->record;
    if (r->key.kind.len == 0 || r->key.region.len == 0 || r->key.id.len == 0)
      return malformed(error, r->key.id, "a record needs a kind, a region and an id");
    if (is_live(r) && r->name.len == 0)
      return malformed(error, r->key.id, "a live record needs a name");
    if (tree_find(&w->keys, &r->key) != NULL)
      return malformed(error, r->key.id, "the record stands twice in one group");
    w->own[i].key = r->key;
    tree_insert(&w->keys, &w->own[i].node, &w->own[i].key);
  }
  return DAVIT_OK;
}

/* Deleted records whose names the group takes over get new versions, below those of the group. */
static int32_t free_names(work* w) {
  for (uint32_t i = 0; i < w->group->mutations_count; ++i) {
    const davit_record* r = w->group->mutations[i]->record;
    if (!is_live(r)) continue;
    const row* at = next_named(w->change->of, r, NULL, 0);
    while (at != NULL) {
      davit_record hidden = at->of.record;
      const int stays = is_live(&hidden) || tree_find(&w->keys, &hidden.key) != NULL;
      hidden.version = w->change->of->head + 1;
      if (!stays && change_record(w->change, &hidden, 1, &w->result->error) != DAVIT_OK)
        return w->result->error.code;
      at = next_named(w->change->of, r, at, 0);
    }
  }
  return DAVIT_OK;
}

/* Whether the record is what the mutation expects (S5). */
static int32_t judge_expected(work* w, const davit_mutation* m, const row* before) {
  const uint64_t is = before == NULL ? 0 : before->of.record.version;
  const davit_cursor read_at = {m->expect_incarnation, m->expect};
  if (m->expect == DAVIT_EXPECT_ANY) return DAVIT_OK;
  const int lost =
      m->expect != 0 && m->expect_incarnation != 0 && !knows(w->change->of, read_at, 0);
  if (m->expect == is && !lost) return DAVIT_OK;
  w->result->actual_version = is;
  char message[128];
  snprintf(message, sizeof message, "the record has version %llu, expected was %llu%s",
           (unsigned long long)is, (unsigned long long)m->expect,
           lost ? " of an incarnation that has lost it" : "");
  return fail(&w->result->error, DAVIT_ABORTED, m->record->key.id, message);
}

/* A record keeps its name for life. `r` gets that of `before`, when it is a deleted one that reads
 * without it. */
static int32_t judge_name(work* w, davit_record* r, const row* before) {
  if (before == NULL || before->of.record.name.len == 0) return DAVIT_OK;
  const davit_record* was = &before->of.record;
  if (!is_live(r) && r->name.len == 0 && r->ns.len == 0) {
    r->ns = was->ns;
    r->name = was->name;
  }
  if (same_text(r->ns, was->ns) && same_text(r->name, was->name)) return DAVIT_OK;
  return malformed(&w->result->error, r->key.id, "a record keeps its namespace and its name");
}

/* What has the name already: a live record refuses a live one, and hides a deleted one. A deleted
 * one is hidden by a live one. */
static int32_t settle_name(work* w, const davit_record* r, int* hidden) {
  const row* at = r->name.len == 0 ? NULL : next_named(w->change->of, r, NULL, 0);
  for (; at != NULL; at = next_named(w->change->of, r, at, 0)) {
    const davit_record* other = &at->of.record;
    if (compare_keys(&other->key, &r->key) == 0) continue;
    if (is_live(other) && is_live(r))
      return fail(&w->result->error, DAVIT_ALREADY_EXISTS, other->key.id,
                  "another record has the name");
    if (is_live(other)) *hidden = 1;
    if (is_live(other) || !is_live(r)) continue;
    if (change_record(w->change, other, 1, &w->result->error) != DAVIT_OK)
      return w->result->error.code;
  }
  return DAVIT_OK;
}

static int32_t mutate(work* w, const davit_mutation* m) {
  davit_record r = *m->record;
  const row* before = find_record(w->change->of, &r.key);
  int hidden = before != NULL && before->hidden && !is_live(&r);
  int32_t code = judge_expected(w, m, before);
  if (code == DAVIT_OK) code = judge_name(w, &r, before);
  if (code == DAVIT_OK) code = settle_name(w, &r, &hidden);
  if (code != DAVIT_OK) return code;
  r.version = w->change->of->head + 1;
  r.committed_at_unix_ms = unix_ms(w->self);
  if (r.request_id.len == 0) r.request_id = w->group->request_id;
  return change_record(w->change, &r, hidden, &w->result->error);
}

static int32_t make_group(work* w) {
  int32_t code = judge_group(w);
  if (code == DAVIT_OK) code = free_names(w);
  const uint64_t first = w->change->of->head + 1;
  for (uint32_t i = 0; i < w->group->mutations_count && code == DAVIT_OK; ++i)
    code = mutate(w, w->group->mutations[i]);
  if (code == DAVIT_OK && w->group->request_id.len != 0) {
    const request answered = {w->group->request_id, first, unix_ms(w->self)};
    code = change_request(w->change, &answered, &w->result->error);
  }
  w->result->first_version = code == DAVIT_OK ? first : 0;
  return code;
}

static void commit_group(davit_instance* self, change* c, const davit_group* group,
                         davit_group_result* result) {
  const row* known = group->request_id.len == 0 ? NULL : find_request(c->of, group->request_id);
  result->incarnation = current_incarnation(c->of);
  if (known != NULL) {
    result->first_version = known->of.request.first_version;
    return;
  }
  const moment before = now_in(c);
  work w = {self, c, group, result, {NULL, NULL, 0}, NULL};
  if (make_group(&w) != DAVIT_OK) take_back_to(c, before);
  free(w.own);
}

int32_t commit(davit_instance* self, const davit_op* op, const davit_group* const* groups,
               size_t count, davit_group_result* const* results, davit_error* error) {
  int32_t code = DAVIT_OK;
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < groups[i]->mutations_count && code == DAVIT_OK; ++k)
      code = judge_flags(groups[i]->mutations[k]->record->flags, DAVIT_RECORD_LIVE, "davit_record",
                         error);
  }
  if (code == DAVIT_OK) code = lock_store(self, op, error);
  if (code != DAVIT_OK) return code;
  change c = begin_change(&self->state);
  for (size_t i = 0; i < count; ++i) commit_group(self, &c, groups[i], results[i]);
  return end_call(self, &c, DAVIT_OK, DAVIT_HINT_RECORDS, error);
}

/* --- statuses --- */

static int is_lost(const state* s, const davit_status* status, const davit_record* of) {
  const davit_cursor read_at = {status->observed_incarnation, status->observed_version};
  return status->observed_version > of->version ||
         (status->observed_incarnation != 0 && !knows(s, read_at, 0));
}

static int is_newer(const davit_status* status, const davit_status* stored) {
  if (status->epoch != stored->epoch) return status->epoch > stored->epoch;
  return status->sequence > stored->sequence;
}

static int32_t report_one(change* c, const davit_status* status, davit_error* error) {
  const row* of = find_record(c->of, &status->key);
  const row* stored = find_status(c->of, &status->key);
  davit_status s = *status;
  const int gone = (s.flags & DAVIT_STATUS_GONE) != 0;
  if (of == NULL || (!gone && is_lost(c->of, &s, &of->of.record))) return DAVIT_OK;
  if (stored != NULL && !is_newer(&s, &stored->of.status)) return DAVIT_OK;
  s.ns = of->of.record.ns;
  s.name = of->of.record.name;
  s.status_version = c->of->status_head + 1;
  if (gone) s.children_count = 0;
  return change_status(c, &s, error);
}

int32_t report(davit_instance* self, const davit_op* op, const davit_status* const* statuses,
               size_t count, davit_error* error) {
  int32_t code = DAVIT_OK;
  for (size_t i = 0; i < count && code == DAVIT_OK; ++i)
    code = judge_flags(statuses[i]->flags, DAVIT_STATUS_GONE, "davit_status", error);
  if (code == DAVIT_OK) code = lock_store(self, op, error);
  if (code != DAVIT_OK) return code;
  change c = begin_change(&self->state);
  for (size_t i = 0; i < count && code == DAVIT_OK; ++i) code = report_one(&c, statuses[i], error);
  return end_call(self, &c, code, DAVIT_HINT_STATUSES, error);
}

/* --- agents, upkeep --- */

int32_t keep_progress(davit_instance* self, const davit_op* op, const davit_progress* progress,
                      davit_error* error) {
  if (lock_store(self, op, error) != DAVIT_OK) return error->code;
  change c = begin_change(&self->state);
  const int32_t code = change_agent(&c, progress, error);
  return end_call(self, &c, code, DAVIT_HINT_AGENTS, error);
}

/* The log is not told: a restart reads the old ones again, and the next upkeep forgets them. */
static void forget_requests(davit_instance* self) {
  state* s = &self->state;
  const int64_t now = unix_ms(self);
  row* next = next_request(s, text(""));
  while (next != NULL) {
    row* const at = next;
    const request* r = &at->of.request;
    next = next_request(s, r->id);
    if (r->first_version + REQUESTS_KEPT >= s->head || r->at_unix_ms + REQUESTS_KEPT_MS >= now)
      continue;
    take_row(s, at);
    free(at);
  }
}

static int32_t run_steps(change* c, const davit_maintain* what, davit_error* error) {
  int32_t code = DAVIT_OK;
  if ((what->flags & DAVIT_MAINTAIN_FORGET_AGENT) != 0) {
    const row* agent = find_agent(c->of, what->region, what->agent);
    if (agent != NULL && agent->of.agent.seen_at_unix_ms <= what->agent_seen_at_unix_ms)
      code = forget_agent(c, what->region, what->agent, error);
  }
  const uint64_t head = c->of->head;
  const uint64_t through = what->purge_through < head ? what->purge_through : head;
  const int purges = (what->flags & DAVIT_MAINTAIN_PURGE) != 0 && through > c->of->purged_through;
  return code == DAVIT_OK && purges ? purge(c, through, error) : code;
}

int32_t maintain(davit_instance* self, const davit_op* op, const davit_maintain* what,
                 davit_error* error) {
  const uint32_t known = DAVIT_MAINTAIN_PURGE | DAVIT_MAINTAIN_FORGET_AGENT;
  int32_t code = judge_flags(what->flags, known, "davit_maintain", error);
  if (code == DAVIT_OK) code = lock_store(self, op, error);
  if (code != DAVIT_OK) return code;
  change c = begin_change(&self->state);
  code = run_steps(&c, what, error);
  forget_requests(self);
  return end_call(self, &c, code, 0, error);
}

/* The file may be an older copy, so each start begins an incarnation. Its number is not of the
 * host's randomness, which tests repeat: two copies of one file must not begin the same (S10). */
int32_t write_incarnation(davit_instance* self, davit_error* error) {
  uint64_t number = 0;
  while (number == 0) {
    if (getentropy(&number, sizeof number) != 0)
      return fail(error, DAVIT_UNAVAILABLE, text(""), "the system gives no random numbers");
  }
  change c = begin_change(&self->state);
  const int32_t code = change_incarnation(&c, number, error);
  if (code == DAVIT_OK) return write_change(self, &c, error);
  take_change_back(&c);
  return code;
}
