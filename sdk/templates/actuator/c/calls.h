/* The calls that are open: each waits for a thread of the instance's pool, works there, and is
 * answered once. A call ends early when its caller gives up or when the instance stops. Stands
 * between the slots of the role and the work. */
#pragma once
#include <davit/abi.h>
#include <davit/abi/actuator.h>
#include <pthread.h>

struct calls {
  const davit_host* host;
  const davit_exec* exec;
  const davit_clock* clock;
  pthread_mutex_t mutex;
  pthread_cond_t woken; /* a caller gave up, the instance stops, or a call has ended */
  size_t open;
  int stopped;
};

/* The answer to a call. */
struct outcome {
  davit_error error; /* of code 0: none */
  int64_t requeue_after_ms;
  char* status_patch;   /* of malloc; NULL: none */
  const char* progress; /* static; NULL: none */
};

/* What is done for a call, on a thread of the pool. */
struct call;
typedef struct outcome (*call_work)(davit_instance*, const struct call*);

/* One call. The texts are copies, with a zero behind each. */
struct call {
  struct calls* of;
  davit_instance* instance;
  const davit_op* op; /* lives until the answer */
  davit_str ns, name, uid, cluster;
  void (*event)(void* self, const davit_actuator_event*);
  void* self;
  davit_actuator_done done;
  void* ctx;
  call_work work;
};

/* 0: there is no memory for it. */
int calls_init(struct calls* self, const davit_host* host);
void calls_destroy(struct calls* self);

/* Answers the call with what `work` returns on a thread of the pool. */
void calls_serve(struct calls* self, davit_instance* instance, const davit_op* op,
                 const davit_actuator_call* asked, davit_actuator_done done, void* ctx,
                 call_work work);

/* Waits as for a provider that takes long. Anything but DAVIT_OK says why the call is over. */
int32_t call_pause(const struct call* call, int64_t milliseconds, davit_error* error);

/* An event of Kubernetes at the Cluster, of type Normal. */
void call_tell(const struct call* call, const char* reason, const char* message);

/* Ends all calls, and waits for them within op's deadline. */
int32_t calls_stop(struct calls* self, const davit_op* op, davit_error* error);
