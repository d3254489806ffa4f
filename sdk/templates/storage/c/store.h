/* The instance, and the slots of the role davit.storage/1: those of reads.c change nothing, those
 * of writes.c make a change (change.h) and write it into the log (log.h). <davit/abi/storage.h> has
 * the contract; S1 to S13 are its rules.
 *
 * Each slot holds one lock, so every rule about what is visible together (S1 to S5) holds by
 * itself. */
#pragma once
#include <pthread.h>

#include "log.h"
#include "state.h"
#include "watches.h"

struct davit_instance {
  const davit_host* host;
  const davit_clock* clock;
  char* path;
  pthread_mutex_t lock; /* of the state and the log */
  state state;
  log_file log;
  watches watches;
};

/* Takes the lock, unless the caller has given up (S11). */
int32_t lock_store(davit_instance* self, const davit_op* op, davit_error* error);
void unlock_store(davit_instance* self);
/* Whether the caller still waits: OK, CANCELLED or DEADLINE_EXCEEDED. */
int32_t still_wanted(const davit_instance* self, const davit_op* op, davit_error* error);
int64_t unix_ms(const davit_instance* self);
/* UNIMPLEMENTED when a critical flag is set that is not known. */
int32_t judge_flags(uint32_t flags, uint32_t known, const char* of, davit_error* error);

/* reads.c */
int32_t read_limits(davit_instance*, davit_storage_limits* out, davit_error*);
int32_t read_head(davit_instance*, const davit_op*, davit_head* out, davit_error*);
int32_t read_records(davit_instance*, const davit_op*, const davit_read*, davit_visit_record,
                     void* ctx, davit_page* out, davit_error*);
int32_t get_records(davit_instance*, const davit_op*, const davit_get*, davit_visit_record,
                    void* ctx, davit_head* out, davit_error*);
int32_t read_statuses(davit_instance*, const davit_op*, const davit_status_read*,
                      davit_visit_status, void* ctx, davit_status_page* out, davit_error*);
int32_t read_agents(davit_instance*, const davit_op*, const davit_agent_read*, davit_visit_progress,
                    void* ctx, davit_agent_page* out, davit_error*);
int32_t read_history(davit_instance*, const davit_op*, davit_visit_cursor, void* ctx, davit_error*);

/* writes.c */
int32_t commit(davit_instance*, const davit_op*, const davit_group* const* groups, size_t count,
               davit_group_result* const* results, davit_error*);
int32_t report(davit_instance*, const davit_op*, const davit_status* const* statuses, size_t count,
               davit_error*);
int32_t keep_progress(davit_instance*, const davit_op*, const davit_progress*, davit_error*);
int32_t maintain(davit_instance*, const davit_op*, const davit_maintain*, davit_error*);
/* At each start. */
int32_t write_incarnation(davit_instance*, davit_error*);
