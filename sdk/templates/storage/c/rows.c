#include "rows.h"

#include <stdlib.h>
#include <string.h>

/* --- both ways ---
 * The members of each type are listed once: a coder either writes them or reads them. Whoever
 * changes a list gives the row a new letter, because logs have rows of the earlier form. */

typedef struct coder {
  buffer* out; /* NULL: it reads */
  reader* in;
} coder;

static void code_text(const coder* c, davit_str* member) {
  if (c->out != NULL)
    put_text(c->out, *member);
  else
    *member = take_text(c->in);
}

static void code_number(const coder* c, uint64_t* member) {
  if (c->out != NULL)
    put_number(c->out, *member);
  else
    *member = take_number(c->in);
}

static void code_signed(const coder* c, int64_t* member) {
  uint64_t number = (uint64_t)*member;
  code_number(c, &number);
  *member = (int64_t)number;
}

/* Only flags that this version knows are kept. */
static void code_flags(const coder* c, uint32_t* member, uint32_t known) {
  uint64_t number = *member & known;
  code_number(c, &number);
  *member = (uint32_t)number & known;
}

static void code_key(const coder* c, davit_key* key) {
  code_text(c, &key->kind);
  code_text(c, &key->region);
  code_text(c, &key->id);
}

static void code_record(const coder* c, davit_record* r, uint64_t* hidden) {
  davit_str payload = {(const char*)r->payload.ptr, r->payload.len};
  code_number(c, hidden);
  code_flags(c, &r->flags, DAVIT_RECORD_LIVE);
  code_key(c, &r->key);
  code_text(c, &r->ns);
  code_text(c, &r->name);
  code_text(c, &r->state);
  code_number(c, &r->version);
  code_text(c, &payload);
  code_text(c, &r->json);
  code_signed(c, &r->committed_at_unix_ms);
  code_text(c, &r->author);
  code_text(c, &r->request_id);
  r->payload.ptr = (const uint8_t*)payload.ptr;
  r->payload.len = payload.len;
}

static void code_pair(const coder* c, davit_pair* pair) {
  code_text(c, &pair->key);
  code_text(c, &pair->value);
}

static void code_status(const coder* c, davit_status* s) {
  code_flags(c, &s->flags, DAVIT_STATUS_GONE);
  code_key(c, &s->key);
  code_number(c, &s->observed_version);
  code_text(c, &s->health);
  code_signed(c, &s->desired);
  code_signed(c, &s->updated);
  code_signed(c, &s->ready);
  code_signed(c, &s->stale);
  code_text(c, &s->message);
  code_text(c, &s->parked);
  code_text(c, &s->detail);
  code_number(c, &s->epoch);
  code_number(c, &s->sequence);
  code_number(c, &s->status_version);
  code_signed(c, &s->reported_at_unix_ms);
  code_text(c, &s->ns);
  code_text(c, &s->name);
}

static void code_child(const coder* c, davit_child* child) {
  code_text(c, &child->name);
  code_text(c, &child->address);
  code_text(c, &child->status);
  code_signed(c, &child->cpu_millicores);
  code_signed(c, &child->memory_mib);
}

static void code_agent(const coder* c, davit_progress* p) {
  code_text(c, &p->region);
  code_text(c, &p->agent);
  code_text(c, &p->software);
  code_number(c, &p->epoch);
  code_signed(c, &p->seen_at_unix_ms);
}

static void code_kind(const coder* c, davit_kind_progress* kind) {
  code_text(c, &kind->kind);
  code_number(c, &kind->applied.incarnation);
  code_number(c, &kind->applied.version);
}

static void code_issue(const coder* c, davit_issue* issue) {
  code_text(c, &issue->kind);
  code_text(c, &issue->id);
  code_text(c, &issue->ns);
  code_text(c, &issue->name);
  code_number(c, &issue->version);
  code_number(c, &issue->incarnation);
  code_text(c, &issue->condition);
  code_text(c, &issue->reason);
}

static void code_request(const coder* c, request* r) {
  code_text(c, &r->id);
  code_number(c, &r->first_version);
  code_signed(c, &r->at_unix_ms);
}

/* --- to bytes --- */

/* The bytes of every row begin with the lengths of its lists, so that a reader knows how much
 * memory the row needs. A coder that writes changes nothing, so copies of the structs will do. */
static coder begin(buffer* out, size_t first_list, size_t second_list) {
  const coder c = {out, NULL};
  put_number(out, first_list);
  put_number(out, second_list);
  return c;
}

void put_record(buffer* out, const davit_record* record, int hidden) {
  const coder c = begin(out, record->annotations_count, 0);
  davit_record copy = *record;
  uint64_t flag = hidden != 0;
  code_record(&c, &copy, &flag);
  for (size_t i = 0; i < record->annotations_count; ++i) {
    davit_pair pair = record->annotations[i];
    code_pair(&c, &pair);
  }
}

void put_status(buffer* out, const davit_status* status) {
  const coder c = begin(out, status->children_count, 0);
  davit_status copy = *status;
  code_status(&c, &copy);
  for (size_t i = 0; i < status->children_count; ++i) {
    davit_child child = *status->children[i];
    code_child(&c, &child);
  }
}

void put_agent(buffer* out, const davit_progress* progress) {
  const coder c = begin(out, progress->kinds_count, progress->issues_count);
  davit_progress copy = *progress;
  code_agent(&c, &copy);
  for (size_t i = 0; i < progress->kinds_count; ++i) {
    davit_kind_progress kind = *progress->kinds[i];
    code_kind(&c, &kind);
  }
  for (size_t i = 0; i < progress->issues_count; ++i) {
    davit_issue issue = *progress->issues[i];
    code_issue(&c, &issue);
  }
}

void put_request(buffer* out, const request* from) {
  const coder c = begin(out, 0, 0);
  request copy = *from;
  code_request(&c, &copy);
}

/* --- from bytes --- */

static void read_record(const coder* c, row* into, void* lists, size_t count) {
  davit_record* r = &into->of.record;
  davit_pair* pairs = lists;
  r->struct_size = sizeof *r;
  code_record(c, r, &into->hidden);
  for (size_t i = 0; i < count; ++i) code_pair(c, &pairs[i]);
  r->annotations = pairs;
  r->annotations_count = count;
}

static void read_status(const coder* c, row* into, void* lists, size_t count) {
  davit_status* s = &into->of.status;
  const davit_child** pointers = lists;
  davit_child* children = (davit_child*)(void*)(pointers + count);
  s->struct_size = sizeof *s;
  code_status(c, s);
  for (size_t i = 0; i < count; ++i) {
    children[i].struct_size = sizeof *children;
    code_child(c, &children[i]);
    pointers[i] = &children[i];
  }
  s->children = pointers;
  s->children_count = count;
}

static void read_agent(const coder* c, row* into, void* lists, size_t kinds, size_t issues) {
  davit_progress* p = &into->of.agent;
  const davit_kind_progress** kind_pointers = lists;
  const davit_issue** issue_pointers = (const davit_issue**)(void*)(kind_pointers + kinds);
  davit_kind_progress* of_kinds = (davit_kind_progress*)(void*)(issue_pointers + issues);
  davit_issue* of_issues = (davit_issue*)(void*)(of_kinds + kinds);
  p->struct_size = sizeof *p;
  code_agent(c, p);
  for (size_t i = 0; i < kinds; ++i) {
    of_kinds[i].struct_size = sizeof *of_kinds;
    code_kind(c, &of_kinds[i]);
    kind_pointers[i] = &of_kinds[i];
  }
  for (size_t i = 0; i < issues; ++i) {
    of_issues[i].struct_size = sizeof *of_issues;
    code_issue(c, &of_issues[i]);
    issue_pointers[i] = &of_issues[i];
  }
  p->kinds = kind_pointers;
  p->kinds_count = kinds;
  p->issues = issue_pointers;
  p->issues_count = issues;
}

static size_t size_of_lists(row_type type, size_t first, size_t second) {
  switch (type) {
    case ROW_RECORD:
      return first * sizeof(davit_pair);
    case ROW_STATUS:
      return first * (sizeof(davit_child) + sizeof(davit_child*));
    case ROW_AGENT:
      return first * (sizeof(davit_kind_progress) + sizeof(davit_kind_progress*)) +
             second * (sizeof(davit_issue) + sizeof(davit_issue*));
    case ROW_REQUEST:
      break;
  }
  return 0;
}

/* One piece of memory has the row, its lists, and the bytes that its texts borrow from. */
row* make_row(row_type type, davit_str bytes, davit_error* error) {
  reader counts = {(const uint8_t*)bytes.ptr, bytes.len, 0};
  const uint64_t first = take_number(&counts), second = take_number(&counts);
  /* An element has a byte at least. So a count that is damaged asks for no absurd memory. */
  if (counts.failed || first > counts.left || second > counts.left) {
    fail(error, DAVIT_DATA_LOSS, text(""), "an entry is malformed");
    return NULL;
  }
  const size_t lists = size_of_lists(type, (size_t)first, (size_t)second);
  row* made = calloc(1, sizeof *made + lists + counts.left);
  if (made == NULL) {
    no_memory(error);
    return NULL;
  }
  void* at = made + 1;
  uint8_t* copy = (uint8_t*)at + lists;
  memcpy(copy, counts.at, counts.left);
  reader in = {copy, counts.left, 0};
  const coder c = {NULL, &in};
  made->type = type;
  switch (type) {
    case ROW_RECORD:
      read_record(&c, made, at, (size_t)first);
      break;
    case ROW_STATUS:
      read_status(&c, made, at, (size_t)first);
      break;
    case ROW_AGENT:
      read_agent(&c, made, at, (size_t)first, (size_t)second);
      break;
    case ROW_REQUEST:
      code_request(&c, &made->of.request);
      break;
  }
  if (!in.failed && in.left == 0) return made;
  free(made);
  fail(error, DAVIT_DATA_LOSS, text(""), "an entry is malformed");
  return NULL;
}
