/* A storage in memory. It keeps 64 records, statuses and agents, gives no hints, and keeps neither
 * request ids (S6) nor the names of deleted records (S13). */
#include "store.h"

static int32_t limits(davit_instance* self, davit_storage_limits* out, davit_error* error) {
  (void)self;
  (void)error;
  out->group_records = 16;
  out->record_bytes = 65536;
  out->group_bytes = 1048576;
  out->report_statuses = 16;
  out->report_bytes = 1048576;
  return DAVIT_OK;
}

static int32_t head(davit_instance* self, const davit_op* op, davit_head* out, davit_error* error) {
  const int32_t code = lock(self, op, error);
  if (code != DAVIT_OK) return code;
  fill_head(self, out);
  return unlock(self);
}

static int said_gone(const davit_instance* self, const davit_record* record) {
  const size_t at = find_status(self, record->key);
  return at < self->statuses_count && (self->statuses[at]->flags & DAVIT_STATUS_GONE) != 0 &&
         self->statuses[at]->observed_version >= record->version;
}

static int is_left_out(const davit_instance* self, const davit_read* q,
                       const davit_record* record) {
  if (record->version <= q->cursor.version || !in_scope(q->scope, record->key)) return 1;
  if (is_live(record) || record->version > q->dead_after) return 0;
  return (q->flags & DAVIT_READ_LINGERING) == 0 || said_gone(self, record);
}

static void visit_page(const davit_instance* self, const davit_read* q, davit_visit_record visit,
                       void* ctx, davit_page* out) {
  uint64_t bytes = 0;
  uint32_t visited = 0;
  size_t i;
  out->flags = 0;
  out->next_version = self->head;
  for (i = 0; i < self->records_count; ++i) {
    const davit_record* record = self->records[i];
    if (is_left_out(self, q, record)) continue;
    bytes += record->payload.len;
    if (visited > 0 && (visited == q->limit || bytes > q->bytes_max)) {
      out->flags = DAVIT_PAGE_MORE;
      return;
    }
    ++visited;
    out->next_version = record->version;
    if (visit(ctx, record) != 0) {
      out->flags = DAVIT_PAGE_MORE;
      return;
    }
  }
  out->next_version = self->head;
}

static int32_t read_records(davit_instance* self, const davit_op* op, const davit_read* q,
                            davit_visit_record visit, void* ctx, davit_page* out,
                            davit_error* error) {
  int32_t code;
  if (!KNOWN_FLAGS(q->flags, DAVIT_READ_LINGERING)) return unknown_flag(error, "davit_read");
  code = lock(self, op, error);
  if (code != DAVIT_OK) return code;
  code = judge_cursor(self, q->cursor, self->head, error);
  if (code == DAVIT_OK && q->cursor.version != 0 && q->cursor.version < self->purged_through &&
      q->dead_after < self->purged_through)
    code = fail(error, DAVIT_OUT_OF_RANGE, "cursor", "what was deleted since is no longer known");
  if (code == DAVIT_OK) {
    visit_page(self, q, visit, ctx, out);
    fill_head(self, out->head);
  }
  unlock(self);
  return code;
}

static int answers(const davit_query* q, const davit_record* r) {
  if (q->key.id.len != 0) return same_key(q->key, r->key);
  return equal(q->name, r->name) && (q->ns.len == 0 || equal(q->ns, r->ns)) &&
         equal(q->key.kind, r->key.kind) && equal(q->key.region, r->key.region);
}

static int32_t get(davit_instance* self, const davit_op* op, const davit_get* request,
                   davit_visit_record visit, void* ctx, davit_head* out, davit_error* error) {
  int32_t code;
  size_t n, i;
  if (!KNOWN_FLAGS(request->flags, 0)) return unknown_flag(error, "davit_get");
  code = lock(self, op, error);
  if (code != DAVIT_OK) return code;
  fill_head(self, out);
  for (n = 0; n < request->queries_count; ++n) {
    for (i = 0; i < self->records_count; ++i) {
      const davit_record* r = self->records[i];
      if (answers(request->queries[n], r) && visit(ctx, r) != 0) return unlock(self);
    }
  }
  return unlock(self);
}

/* OK: each mutation finds the version that it expects, and there is room. */
static int32_t judge_group(davit_instance* self, const davit_group* group,
                           davit_group_result* result) {
  uint32_t i;
  for (i = 0; i < group->mutations_count; ++i) {
    const davit_mutation* m = group->mutations[i];
    const size_t at = find_record(self, m->record->key);
    result->actual_version =
        at < self->records_count && is_live(self->records[at]) ? self->records[at]->version : 0;
    const int lost =
        m->expect != 0 && m->expect_incarnation != 0 && m->expect_incarnation != self->incarnation;
    if (m->expect != DAVIT_EXPECT_ANY && (m->expect != result->actual_version || lost))
      return fail(&result->error, DAVIT_ABORTED, "", "the record has another version");
  }
  result->actual_version = 0;
  if (self->records_count + group->mutations_count > ROWS_MAX)
    return fail(&result->error, DAVIT_RESOURCE_EXHAUSTED, "", "the storage is full");
  return DAVIT_OK;
}

static void commit_group(davit_instance* self, const davit_group* group,
                         davit_group_result* result) {
  uint32_t i;
  result->incarnation = self->incarnation;
  result->error.code = judge_group(self, group, result);
  if (result->error.code != DAVIT_OK) return;
  result->first_version = self->head + 1;
  for (i = 0; i < group->mutations_count; ++i) {
    davit_record* record = kept_record(self, group->mutations[i]->record);
    const size_t at = find_record(self, record->key);
    if (at < self->records_count) take_out((void**)self->records, &self->records_count, at);
    record->version = ++self->head;
    self->records[self->records_count++] = record;
  }
}

static int32_t commit(davit_instance* self, const davit_op* op, const davit_group* const* groups,
                      size_t count, davit_group_result* const* results, davit_error* error) {
  int32_t code;
  size_t i;
  uint32_t k;
  for (i = 0; i < count; ++i) {
    for (k = 0; k < groups[i]->mutations_count; ++k) {
      if (!KNOWN_FLAGS(groups[i]->mutations[k]->record->flags, DAVIT_RECORD_LIVE))
        return unknown_flag(error, "davit_record");
    }
  }
  code = lock(self, op, error);
  if (code != DAVIT_OK) return code;
  for (i = 0; i < count; ++i) commit_group(self, groups[i], results[i]);
  return unlock(self);
}

static void report_one(davit_instance* self, const davit_status* status) {
  const size_t at = find_status(self, status->key);
  davit_status* made;
  if (find_record(self, status->key) == self->records_count) return;
  if (at < self->statuses_count) {
    const davit_status* was = self->statuses[at];
    if (status->epoch < was->epoch ||
        (status->epoch == was->epoch && status->sequence <= was->sequence))
      return;
    take_out((void**)self->statuses, &self->statuses_count, at);
  }
  made = kept_status(self, status);
  made->status_version = ++self->status_head;
  self->statuses[self->statuses_count++] = made;
}

static int32_t report(davit_instance* self, const davit_op* op, const davit_status* const* statuses,
                      size_t count, davit_error* error) {
  int32_t code;
  size_t i;
  for (i = 0; i < count; ++i) {
    if (!KNOWN_FLAGS(statuses[i]->flags, DAVIT_STATUS_GONE))
      return unknown_flag(error, "davit_status");
  }
  code = lock(self, op, error);
  if (code != DAVIT_OK) return code;
  for (i = 0; i < count; ++i) report_one(self, statuses[i]);
  return unlock(self);
}

static void visit_statuses(const davit_instance* self, const davit_status_read* q,
                           davit_visit_status visit, void* ctx, davit_status_page* out) {
  uint32_t visited = 0;
  size_t i;
  out->flags = 0;
  out->next.incarnation = self->incarnation;
  for (i = 0; i < self->statuses_count; ++i) {
    const davit_status* status = self->statuses[i];
    if (status->status_version <= q->cursor.version || !in_scope(q->scope, status->key)) continue;
    if (visited == q->limit) {
      out->flags = DAVIT_PAGE_MORE;
      return;
    }
    ++visited;
    out->next.version = status->status_version;
    if (visit(ctx, status) != 0) {
      out->flags = DAVIT_PAGE_MORE;
      return;
    }
  }
  out->next.version = self->status_head;
}

static int32_t read_statuses(davit_instance* self, const davit_op* op, const davit_status_read* q,
                             davit_visit_status visit, void* ctx, davit_status_page* out,
                             davit_error* error) {
  int32_t code;
  if (!KNOWN_FLAGS(q->flags, 0)) return unknown_flag(error, "davit_status_read");
  code = lock(self, op, error);
  if (code != DAVIT_OK) return code;
  code = judge_cursor(self, q->cursor, self->status_head, error);
  if (code == DAVIT_OK) {
    visit_statuses(self, q, visit, ctx, out);
    fill_head(self, out->head);
  }
  unlock(self);
  return code;
}

static int32_t progress(davit_instance* self, const davit_op* op, const davit_progress* from,
                        davit_error* error) {
  const int32_t code = lock(self, op, error);
  davit_progress* made;
  size_t at = 0;
  if (code != DAVIT_OK) return code;
  while (at < self->agents_count && (!equal(self->agents[at]->region, from->region) ||
                                     !equal(self->agents[at]->agent, from->agent)))
    ++at;
  if (at == ROWS_MAX) {
    unlock(self);
    return fail(error, DAVIT_RESOURCE_EXHAUSTED, "", "the storage is full");
  }
  made = kept_progress(self, from);
  self->agents[at] = made;
  if (at == self->agents_count) ++self->agents_count;
  return unlock(self);
}

/* The order of regions, then of agents. */
static int compare_agents(davit_str region, davit_str agent, const davit_progress* with) {
  const int regions = compare(region, with->region);
  return regions != 0 ? regions : compare(agent, with->agent);
}

/* The first agent of the region (empty: any) above this one, or NULL. */
static const davit_progress* agent_above(const davit_instance* self, davit_str of, davit_str region,
                                         davit_str agent) {
  const davit_progress* found = NULL;
  size_t i;
  for (i = 0; i < self->agents_count; ++i) {
    const davit_progress* p = self->agents[i];
    if (of.len != 0 && !equal(of, p->region)) continue;
    if (compare_agents(region, agent, p) >= 0) continue;
    if (found == NULL || compare_agents(p->region, p->agent, found) < 0) found = p;
  }
  return found;
}

static int32_t agents(davit_instance* self, const davit_op* op, const davit_agent_read* q,
                      davit_visit_progress visit, void* ctx, davit_agent_page* out,
                      davit_error* error) {
  const int32_t code = lock(self, op, error);
  const davit_progress* next;
  uint32_t visited = 0;
  if (code != DAVIT_OK) return code;
  next = agent_above(self, q->region, q->after_region, q->after_agent);
  out->flags = 0;
  while (next != NULL && visited++ < q->limit && visit(ctx, next) == 0)
    next = agent_above(self, q->region, next->region, next->agent);
  if (next != NULL) out->flags = DAVIT_PAGE_MORE;
  return unlock(self);
}

static void purge(davit_instance* self, uint64_t through) {
  size_t i = 0, status;
  while (i < self->records_count) {
    davit_record* record = self->records[i];
    if (is_live(record) || record->version > through) {
      ++i;
      continue;
    }
    status = find_status(self, record->key);
    if (status < self->statuses_count)
      take_out((void**)self->statuses, &self->statuses_count, status);
    take_out((void**)self->records, &self->records_count, i);
  }
  if (through > self->purged_through) self->purged_through = through;
}

static void forget(davit_instance* self, const davit_maintain* what) {
  size_t i;
  for (i = 0; i < self->agents_count; ++i) {
    const davit_progress* p = self->agents[i];
    if (!equal(p->region, what->region) || !equal(p->agent, what->agent)) continue;
    if (p->seen_at_unix_ms > what->agent_seen_at_unix_ms) return;
    take_out((void**)self->agents, &self->agents_count, i);
    return;
  }
}

static int32_t maintain(davit_instance* self, const davit_op* op, const davit_maintain* what,
                        davit_error* error) {
  int32_t code;
  if (!KNOWN_FLAGS(what->flags, DAVIT_MAINTAIN_PURGE | DAVIT_MAINTAIN_FORGET_AGENT))
    return unknown_flag(error, "davit_maintain");
  code = lock(self, op, error);
  if (code != DAVIT_OK) return code;
  if ((what->flags & DAVIT_MAINTAIN_PURGE) != 0) purge(self, what->purge_through);
  if ((what->flags & DAVIT_MAINTAIN_FORGET_AGENT) != 0) forget(self, what);
  return unlock(self);
}

static int32_t history(davit_instance* self, const davit_op* op, davit_visit_cursor visit,
                       void* ctx, davit_error* error) {
  const int32_t code = lock(self, op, error);
  davit_cursor now;
  if (code != DAVIT_OK) return code;
  now.incarnation = self->incarnation;
  now.version = self->head;
  visit(ctx, &now);
  return unlock(self);
}

static const davit_storage storage = {
    sizeof(davit_storage), 0,        limits, head,     read_records, get,  commit, report,
    read_statuses,         progress, agents, maintain, NULL,         NULL, history};

/* --- the steps of the instance's life --- */

static int32_t create(const davit_host* host, davit_instance** out, davit_error* error) {
  const davit_clock* clock = host->query(host, str(DAVIT_CLOCK));
  davit_instance* self = calloc(1, sizeof *self);
  (void)error;
  self->host = host;
  pthread_mutex_init(&self->lock, NULL);
  self->incarnation = clock->random(host) | 1;
  *out = self;
  return DAVIT_OK;
}

static void destroy(davit_instance* self) {
  while (self->chunks != NULL) {
    chunk* last = self->chunks;
    self->chunks = last->next;
    free(last);
  }
  pthread_mutex_destroy(&self->lock);
  free(self);
}

static const void* query(davit_instance* self, davit_str id) {
  (void)self;
  return equal(id, str(DAVIT_STORAGE)) ? &storage : NULL;
}

const davit_plugin* davit_plugin_entry_v1(uint32_t host_abi_minor, davit_error* error) {
  static davit_plugin plugin;
  (void)host_abi_minor;
  (void)error;
  describe_plugin(&plugin, "keeps records in memory");
  plugin.max_concurrency = 2;
  plugin.create = create;
  plugin.destroy = destroy;
  plugin.query = query;
  return &plugin;
}
