#include "store.h"

static void fill_head(const davit_instance* self, davit_head* out) {
  if (out == NULL) return;
  out->head.incarnation = current_incarnation(&self->state);
  out->head.version = self->state.head;
  out->status_head = self->state.status_head;
  out->purged_through = self->state.purged_through;
}

static int in_scope(const davit_scope* scope, const davit_key* key) {
  return (scope->kind.len == 0 || same_text(scope->kind, key->kind)) &&
         (scope->region.len == 0 || same_text(scope->region, key->region));
}

static int32_t refused(davit_error* error, const char* why) {
  return fail(error, DAVIT_OUT_OF_RANGE, text("cursor"), why);
}

int32_t read_limits(davit_instance* self, davit_storage_limits* out, davit_error* error) {
  (void)self, (void)error;
  out->group_records = out->report_statuses = 100000;
  out->record_bytes = UINT64_C(64) << 20;
  out->group_bytes = out->report_bytes = UINT64_C(512) << 20;
  return DAVIT_OK;
}

int32_t read_head(davit_instance* self, const davit_op* op, davit_head* out, davit_error* error) {
  if (lock_store(self, op, error) != DAVIT_OK) return error->code;
  fill_head(self, out);
  unlock_store(self);
  return DAVIT_OK;
}

/* --- records --- */

/* A hidden record reads without its name (S13). */
static int32_t show(const row* r, davit_visit_record visit, void* ctx) {
  davit_record shown = r->of.record;
  if (r->hidden) shown.ns = shown.name = text("");
  return visit(ctx, &shown);
}

static int is_left_out(const state* s, const davit_record* r, const davit_read* q) {
  if (is_live(r) || r->version > q->dead_after) return 0;
  if ((q->flags & DAVIT_READ_LINGERING) == 0) return 1;
  const row* status = find_status(s, &r->key);
  return status != NULL && (status->of.status.flags & DAVIT_STATUS_GONE) != 0 &&
         status->of.status.observed_version >= r->version;
}

static int32_t visit_page(davit_instance* self, const davit_op* op, const davit_read* q,
                          davit_visit_record visit, void* ctx, davit_page* out,
                          davit_error* error) {
  const state* s = &self->state;
  uint64_t bytes = 0;
  uint32_t visited = 0;
  out->flags = DAVIT_PAGE_MORE;
  out->next_version = q->cursor.version;
  const row* at = next_record(s, q->cursor.version);
  for (; at != NULL; at = next_record(s, at->of.record.version)) {
    const davit_record* r = &at->of.record;
    if (still_wanted(self, op, error) != DAVIT_OK) return error->code;
    if (!in_scope(q->scope, &r->key) || is_left_out(s, r, q)) continue;
    bytes += r->payload.len;
    if (visited == q->limit || (visited > 0 && bytes > q->bytes_max)) return DAVIT_OK;
    ++visited;
    out->next_version = r->version;
    if (show(at, visit, ctx) != 0) return DAVIT_OK;
  }
  out->flags = 0;
  out->next_version = s->head;
  return DAVIT_OK;
}

static int32_t judge_cursor(const state* s, const davit_read* q, davit_error* error) {
  const uint64_t after = q->cursor.version;
  if (after == 0) return DAVIT_OK;
  if (!knows(s, q->cursor, 0)) return refused(error, "is of another history, or above the head");
  if (after < s->purged_through && q->dead_after < s->purged_through)
    return refused(error, "is below the purge mark: records that were deleted since are forgotten");
  return DAVIT_OK;
}

int32_t read_records(davit_instance* self, const davit_op* op, const davit_read* q,
                     davit_visit_record visit, void* ctx, davit_page* out, davit_error* error) {
  int32_t code = judge_flags(q->flags, DAVIT_READ_LINGERING, "davit_read", error);
  if (code == DAVIT_OK) code = lock_store(self, op, error);
  if (code != DAVIT_OK) return code;
  code = judge_cursor(&self->state, q, error);
  if (code == DAVIT_OK) code = visit_page(self, op, q, visit, ctx, out, error);
  if (code == DAVIT_OK) fill_head(self, out->head);
  unlock_store(self);
  return code;
}

/* Returns whether the visitor has stopped. */
static int visit_query(const state* s, const davit_query* q, davit_visit_record visit, void* ctx) {
  if (q->key.id.len != 0) {
    const row* found = find_record(s, &q->key);
    return found != NULL && show(found, visit, ctx) != 0;
  }
  davit_record like = {.key = q->key, .ns = q->ns, .name = q->name};
  const int in_any = q->ns.len == 0;
  const row* at = next_named(s, &like, NULL, in_any);
  for (; at != NULL; at = next_named(s, &like, at, in_any)) {
    if (show(at, visit, ctx) != 0) return 1;
  }
  return 0;
}

int32_t get_records(davit_instance* self, const davit_op* op, const davit_get* asked,
                    davit_visit_record visit, void* ctx, davit_head* out, davit_error* error) {
  int32_t code = judge_flags(asked->flags, 0, "davit_get", error);
  if (code == DAVIT_OK) code = lock_store(self, op, error);
  if (code != DAVIT_OK) return code;
  int stopped = 0;
  for (size_t i = 0; i < asked->queries_count && !stopped && code == DAVIT_OK; ++i) {
    code = still_wanted(self, op, error);
    if (code == DAVIT_OK) stopped = visit_query(&self->state, asked->queries[i], visit, ctx);
  }
  if (code == DAVIT_OK) fill_head(self, out);
  unlock_store(self);
  return code;
}

/* --- statuses --- */

static uint64_t text_bytes(const davit_status* s) {
  uint64_t out = s->message.len + s->parked.len + s->detail.len;
  for (size_t i = 0; i < s->children_count; ++i) {
    const davit_child* child = s->children[i];
    out += child->name.len + child->address.len + child->status.len;
  }
  return out;
}

static int32_t visit_statuses(davit_instance* self, const davit_op* op, const davit_status_read* q,
                              davit_visit_status visit, void* ctx, davit_status_page* out,
                              davit_error* error) {
  const state* s = &self->state;
  uint64_t bytes = 0;
  uint32_t visited = 0;
  out->flags = DAVIT_PAGE_MORE;
  out->next.incarnation = current_incarnation(s);
  out->next.version = q->cursor.version;
  const row* at = next_status(s, q->cursor.version);
  for (; at != NULL; at = next_status(s, at->of.status.status_version)) {
    const davit_status* status = &at->of.status;
    if (still_wanted(self, op, error) != DAVIT_OK) return error->code;
    if (!in_scope(q->scope, &status->key)) continue;
    bytes += text_bytes(status);
    if (visited == q->limit || (visited > 0 && bytes > q->bytes_max)) return DAVIT_OK;
    ++visited;
    out->next.version = status->status_version;
    if (visit(ctx, status) != 0) return DAVIT_OK;
  }
  out->flags = 0;
  out->next.version = s->status_head;
  return DAVIT_OK;
}

int32_t read_statuses(davit_instance* self, const davit_op* op, const davit_status_read* q,
                      davit_visit_status visit, void* ctx, davit_status_page* out,
                      davit_error* error) {
  int32_t code = judge_flags(q->flags, 0, "davit_status_read", error);
  if (code == DAVIT_OK) code = lock_store(self, op, error);
  if (code != DAVIT_OK) return code;
  if (q->cursor.version != 0 && !knows(&self->state, q->cursor, 1))
    code = refused(error, "is of another history of statuses, or above their head");
  if (code == DAVIT_OK) code = visit_statuses(self, op, q, visit, ctx, out, error);
  if (code == DAVIT_OK) fill_head(self, out->head);
  unlock_store(self);
  return code;
}

/* --- agents, history --- */

int32_t read_agents(davit_instance* self, const davit_op* op, const davit_agent_read* q,
                    davit_visit_progress visit, void* ctx, davit_agent_page* out,
                    davit_error* error) {
  if (lock_store(self, op, error) != DAVIT_OK) return error->code;
  uint32_t visited = 0;
  out->flags = 0;
  const row* at = next_agent(&self->state, q->after_region, q->after_agent);
  for (; at != NULL; at = next_agent(&self->state, at->of.agent.region, at->of.agent.agent)) {
    if (q->region.len != 0 && !same_text(q->region, at->of.agent.region)) continue;
    if (visited++ < q->limit && visit(ctx, &at->of.agent) == 0) continue;
    out->flags = DAVIT_PAGE_MORE;
    break;
  }
  unlock_store(self);
  return DAVIT_OK;
}

int32_t read_history(davit_instance* self, const davit_op* op, davit_visit_cursor visit, void* ctx,
                     davit_error* error) {
  if (lock_store(self, op, error) != DAVIT_OK) return error->code;
  const state* s = &self->state;
  for (size_t i = 0; i < s->chain_count; ++i) {
    const int is_current = i + 1 == s->chain_count;
    const davit_cursor at = {s->chain[i].number, is_current ? s->head : s->chain[i].version};
    if (visit(ctx, &at) != 0) break;
  }
  unlock_store(self);
  return DAVIT_OK;
}
