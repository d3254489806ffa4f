#define _DEFAULT_SOURCE 1 /* more than C99: with -std=c99 the headers of libc ask for it */

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char format[] = "@name@ log 1\n";
enum { FORMAT_SIZE = sizeof format - 1, HEAD_SIZE = 16 };

/* --- errors --- */

/* `why`: errno, or 0. */
static int32_t failed(davit_error* error, int32_t code, const char* path, const char* what,
                      int why) {
  char message[sizeof error->message];
  const char* reason = why == 0 ? "" : strerror(why);
  snprintf(message, sizeof message, "%.255s: %.400s%s%.99s", path, what, why == 0 ? "" : ": ",
           reason);
  return fail(error, code, text(path), message);
}

static int32_t cannot(davit_error* error, const char* path, const char* what) {
  return failed(error, DAVIT_UNAVAILABLE, path, what, errno);
}

/* --- heads --- */

static void put_fixed(uint8_t* at, uint64_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) at[i] = (uint8_t)(number >> (8 * i));
}

static uint64_t fixed(const uint8_t* at, size_t bytes) {
  uint64_t out = 0;
  for (size_t i = bytes; i > 0; --i) out = out << 8 | at[i - 1];
  return out;
}

/* Of a head, by its length. With the place, so that no copy of a batch is taken for one: a payload
 * may have such a copy in it. */
static uint32_t head_checksum(const uint8_t* head, uint64_t place) {
  uint8_t of[16];
  memcpy(of, head, 8);
  put_fixed(of + 8, place, 8);
  return crc32c(0, of, sizeof of);
}

/* Whether a whole batch begins at `at`. */
static int is_batch(const uint8_t* file, uint64_t size, uint64_t at, uint64_t* body_size) {
  if (size - at < HEAD_SIZE) return 0;
  const uint8_t* head = file + at;
  *body_size = fixed(head, 8);
  if (*body_size > size - at - HEAD_SIZE) return 0;
  if (fixed(head + 8, 4) != head_checksum(head, at)) return 0;
  return fixed(head + 12, 4) == crc32c(0, head + HEAD_SIZE, (size_t)*body_size);
}

/* --- opening --- */

/* Replays the batches, and finds their end. A batch that is not whole is the tail, unless a whole
 * one follows: each batch is on the disk before the next one is written. */
static int32_t replay_all(log_file* log, const char* path, const uint8_t* file, uint64_t size,
                          log_replay replay, void* ctx, davit_error* error) {
  uint64_t body = 0;
  while (is_batch(file, size, log->end, &body)) {
    const davit_str batch = {(const char*)file + log->end + HEAD_SIZE, (size_t)body};
    const int32_t code = replay(ctx, batch, error);
    if (code != DAVIT_OK) {
      char what[sizeof error->message];
      snprintf(what, sizeof what, "%s", error->message);
      return failed(error, code, path, what, 0);
    }
    log->end += HEAD_SIZE + body;
  }
  for (uint64_t at = log->end; at < size; ++at) {
    char what[128];
    if (!is_batch(file, size, at, &body)) continue;
    snprintf(what, sizeof what, "is damaged at byte %llu, and whole batches follow at byte %llu",
             (unsigned long long)log->end, (unsigned long long)at);
    return failed(error, DAVIT_DATA_LOSS, path, what, 0);
  }
  return DAVIT_OK;
}

static int32_t read_all(log_file* log, const char* path, log_replay replay, void* ctx,
                        davit_error* error) {
  struct stat status;
  if (fstat(log->file, &status) != 0) return cannot(error, path, "cannot be read");
  const size_t size = (size_t)status.st_size;
  log->end = FORMAT_SIZE;
  if (size == 0) return DAVIT_OK;
  uint8_t* file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, log->file, 0);
  if (file == MAP_FAILED) return cannot(error, path, "cannot be read");
  const size_t shown = size < FORMAT_SIZE ? size : FORMAT_SIZE;
  int32_t code = DAVIT_OK;
  if (memcmp(file, format, shown) != 0)
    code =
        failed(error, DAVIT_FAILED_PRECONDITION, path,
               "is another file: the setting `path` must name a log of @name@, or a new file", 0);
  else if (size > FORMAT_SIZE)
    code = replay_all(log, path, file, size, replay, ctx, error);
  munmap(file, size);
  return code;
}

/* The name of a new file must survive a power cut, too. */
static int32_t keep_name(const char* path, davit_error* error) {
  char* folder = malloc(strlen(path) + 2);
  if (folder == NULL) return no_memory(error);
  strcpy(folder, path);
  char* slash = strrchr(folder, '/');
  if (slash == NULL)
    strcpy(folder, ".");
  else
    slash[slash == folder ? 1 : 0] = '\0';
  const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int32_t code = DAVIT_OK;
  if (file < 0 || fsync(file) != 0) code = cannot(error, folder, "cannot be synchronised");
  if (file >= 0) close(file);
  free(folder);
  return code;
}

static int write_all(int file, const void* bytes, size_t size, uint64_t at) {
  const uint8_t* from = bytes;
  while (size > 0) {
    const ssize_t n = pwrite(file, from, size, (off_t)at);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) return 0;
    from += n;
    at += (uint64_t)n;
    size -= (size_t)n;
  }
  return 1;
}

static int32_t open_locked(log_file* log, const char* path, log_replay replay, void* ctx,
                           davit_error* error) {
  log->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (log->file < 0) return cannot(error, path, "cannot be opened");
  if (flock(log->file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return cannot(error, path, "cannot be locked");
    return failed(error, DAVIT_UNAVAILABLE, path,
                  "another process has it open: stop that one, or name another file", 0);
  }
  if (keep_name(path, error) != DAVIT_OK) return error->code;
  const int32_t code = read_all(log, path, replay, ctx, error);
  if (code != DAVIT_OK) return code;
  if (ftruncate(log->file, (off_t)log->end) != 0 || !write_all(log->file, format, FORMAT_SIZE, 0))
    return cannot(error, path, "cannot be cut to its last batch");
  return DAVIT_OK;
}

int32_t log_open(log_file* log, const char* path, log_replay replay, void* ctx,
                 davit_error* error) {
  memset(log, 0, sizeof *log);
  const int32_t code = open_locked(log, path, replay, ctx, error);
  if (code != DAVIT_OK) log_close(log);
  return code;
}

void log_close(log_file* log) {
  if (log->file >= 0) close(log->file);
  log->file = -1;
}

/* --- appending --- */

int32_t log_append(log_file* log, const void* batch, size_t size, davit_error* error) {
  uint8_t head[HEAD_SIZE];
  if (log->is_broken)
    return fail(error, DAVIT_UNAVAILABLE, text(""),
                "an earlier write failed; restart to read what is there");
  put_fixed(head, size, 8);
  put_fixed(head + 8, head_checksum(head, log->end), 4);
  put_fixed(head + 12, crc32c(0, batch, size), 4);
  if (!write_all(log->file, head, sizeof head, log->end) ||
      !write_all(log->file, batch, size, log->end + HEAD_SIZE)) {
    const int why = errno;
    log->is_broken = ftruncate(log->file, (off_t)log->end) != 0;
    return failed(error, DAVIT_UNAVAILABLE, "the log", "cannot be written", why);
  }
  /* After a failed fdatasync the kernel may have dropped the pages: a second one proves nothing. */
  if (fdatasync(log->file) != 0) {
    log->is_broken = 1;
    return failed(error, DAVIT_UNAVAILABLE, "the log", "cannot be synchronised", errno);
  }
  log->end += HEAD_SIZE + size;
  return DAVIT_OK;
}
