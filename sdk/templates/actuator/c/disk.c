#define _POSIX_C_SOURCE 200809L
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"

#define MARK ".here"
#define UID_FILE ".uid"
#define UNFINISHED ".new" /* a file that is being written */

enum { NAME_SIZE = 256, PATH_SIZE = 380, FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

enum found { FOUND_NONE, FOUND_SAME, FOUND_OTHER };

/* The error of the call before. `folder` and `name` are names; NULL: there is only the folder. */
static int32_t failed(davit_error* error, const char* folder, const char* name) {
  const int why = errno;
  const int refused = why == EACCES || why == EPERM || why == EROFS;
  char reason[128] = "";
  strerror_r(why, reason, sizeof reason);
  char message[sizeof error->message];
  /* The path of a directory may be long: it is cut where a letter ends, and the reason is not. */
  int length = (int)strnlen(folder, PATH_SIZE);
  while (((unsigned char)folder[length] & 0xc0) == 0x80) --length;
  snprintf(message, sizeof message, "%.*s%s%s: %s", length, folder, name == NULL ? "" : "/",
           name == NULL ? "" : name, reason);
  return fail(error, refused ? DAVIT_PERMISSION_DENIED : DAVIT_UNAVAILABLE, "", message);
}

static void new_of(char* out, const char* uid) {
  snprintf(out, NAME_SIZE, ".%s.new", uid);
}
static void gone_of(char* out, const char* uid) {
  snprintf(out, NAME_SIZE, ".%s.gone", uid);
}

static int32_t folder_at(int disk, const char* name, int* out, davit_error* error) {
  *out = openat(disk, name, FOLDER | O_NOFOLLOW);
  return *out < 0 ? failed(error, name, NULL) : DAVIT_OK;
}

static int32_t synchronised(int open, const char* name, davit_error* error) {
  return fsync(open) != 0 ? failed(error, name, NULL) : DAVIT_OK;
}

/* --- files of an open folder; `in` is its name --- */

/* The file has its name when it is whole. */
static int32_t write_at(int folder, const char* in, const char* name, davit_str content,
                        davit_error* error) {
  const int file =
      openat(folder, UNFINISHED, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return failed(error, in, name);
  int32_t code = DAVIT_OK;
  for (size_t at = 0; at < content.len && code == DAVIT_OK;) {
    const ssize_t n = write(file, content.ptr + at, content.len - at);
    if (n < 0)
      code = failed(error, in, name);
    else
      at += (size_t)n;
  }
  if (code == DAVIT_OK && fsync(file) != 0) code = failed(error, in, name);
  close(file);
  if (code == DAVIT_OK && renameat(folder, UNFINISHED, folder, name) != 0)
    code = failed(error, in, name);
  return code;
}

/* Compares a file with this content. */
static int32_t look_at(int folder, const char* in, const char* name, davit_str content,
                       enum found* out, davit_error* error) {
  *out = FOUND_NONE;
  const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? DAVIT_OK : failed(error, in, name);
  char buffer[4096];
  size_t at = 0;
  ssize_t n = 0;
  *out = FOUND_SAME;
  while (*out == FOUND_SAME && (n = read(file, buffer, sizeof buffer)) > 0) {
    const size_t size = (size_t)n;
    if (size > content.len - at || memcmp(buffer, content.ptr + at, size) != 0) *out = FOUND_OTHER;
    at += size;
  }
  const int32_t code = n < 0 ? failed(error, in, name) : DAVIT_OK;
  close(file);
  if (*out == FOUND_SAME && at != content.len) *out = FOUND_OTHER;
  return code;
}

void names_free(struct names* names) {
  for (size_t i = 0; i < names->count; ++i) free(names->all[i]);
  free(names->all);
}

/* 0: there is no memory. */
static int append(struct names* names, const char* name) {
  char** all = realloc(names->all, (names->count + 1) * sizeof *all);
  if (all == NULL) return 0;
  names->all = all;
  all[names->count] = strdup(name);
  if (all[names->count] == NULL) return 0;
  ++names->count;
  return 1;
}

/* All names but `.` and `..`. The caller frees them, also after an error. */
static int32_t names_in(int folder, const char* in, struct names* out, davit_error* error) {
  const int again = openat(folder, ".", FOLDER);
  DIR* list = again < 0 ? NULL : fdopendir(again);
  int32_t code = list == NULL ? failed(error, in, NULL) : DAVIT_OK;
  if (list == NULL && again >= 0) close(again);
  while (code == DAVIT_OK) {
    errno = 0;
    const struct dirent* entry = readdir(list);
    if (entry == NULL && errno != 0) code = failed(error, in, NULL);
    if (entry == NULL) break;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (!append(out, entry->d_name)) code = fail(error, DAVIT_RESOURCE_EXHAUSTED, "", "no memory");
  }
  if (list != NULL) closedir(list);
  return code;
}

/* --- the directory --- */

int32_t disk_make(const char* path, davit_error* error) {
  const davit_str about = {"folders of clusters\n", strlen("folders of clusters\n")};
  if (mkdir(path, 0700) != 0) return errno == EEXIST ? DAVIT_OK : failed(error, path, NULL);
  int disk = -1;
  int32_t code = folder_at(AT_FDCWD, path, &disk, error);
  if (code != DAVIT_OK) return code;
  code = write_at(disk, path, MARK, about, error);
  if (code == DAVIT_OK) code = synchronised(disk, path, error);
  close(disk);
  return code;
}

int32_t disk_open(const char* path, int* disk, davit_error* error) {
  *disk = open(path, FOLDER);
  if (*disk < 0) return failed(error, path, NULL);
  if (faccessat(*disk, MARK, F_OK, 0) == 0) return DAVIT_OK;
  const int32_t code = failed(error, path, MARK);
  close(*disk);
  return code;
}

/* --- folders of clusters --- */

int32_t disk_owner(int disk, const char* folder, davit_str uid, enum owner* out,
                   davit_error* error) {
  *out = OWNER_NONE;
  const int open = openat(disk, folder, FOLDER | O_NOFOLLOW);
  if (open < 0) return errno == ENOENT ? DAVIT_OK : failed(error, folder, NULL);
  enum found found = FOUND_NONE;
  int32_t code = look_at(open, folder, UID_FILE, uid, &found, error);
  close(open);
  if (code == DAVIT_OK && found == FOUND_NONE) {
    errno = ENOENT;
    code = failed(error, folder, UID_FILE);
  }
  *out = found == FOUND_SAME ? OWNER_SELF : OWNER_OTHER;
  return code;
}

int32_t disk_claim(int disk, const char* folder, davit_str uid, davit_error* error) {
  char made[NAME_SIZE];
  new_of(made, uid.ptr);
  if (mkdirat(disk, made, 0700) != 0) return failed(error, made, NULL);
  int open = -1;
  int32_t code = folder_at(disk, made, &open, error);
  if (code != DAVIT_OK) return code;
  code = write_at(open, made, UID_FILE, uid, error);
  if (code == DAVIT_OK) code = synchronised(open, made, error);
  close(open);
  if (code != DAVIT_OK) return code;
  /* This fails when there is such a folder, since none of ours is empty. */
  if (renameat(disk, made, disk, folder) == 0) return synchronised(disk, folder, error);
  if (errno != EEXIST && errno != ENOTEMPTY) return failed(error, folder, NULL);
  char message[NAME_SIZE + 32];
  snprintf(message, sizeof message, "%s: is of another cluster", folder);
  return fail(error, DAVIT_ALREADY_EXISTS, "metadata.name", message);
}

/* Removes a file of the folder, if there is one. */
static int32_t unlinked(int disk, const char* folder, const char* file, int flush,
                        davit_error* error) {
  int open = -1;
  int32_t code = folder_at(disk, folder, &open, error);
  if (code != DAVIT_OK) return code;
  if (unlinkat(open, file, 0) != 0 && errno != ENOENT)
    code = failed(error, folder, file);
  else if (flush)
    code = synchronised(open, folder, error);
  close(open);
  return code;
}

int32_t disk_clean(int disk, const char* folder, davit_error* error) {
  return unlinked(disk, folder, UNFINISHED, 0, error);
}

int32_t disk_drop(int disk, const char* folder, const char* file, davit_error* error) {
  return unlinked(disk, folder, file, 1, error);
}

int32_t disk_made_at_ms(int disk, const char* folder, int64_t* out, davit_error* error) {
  char path[NAME_SIZE + sizeof UID_FILE];
  snprintf(path, sizeof path, "%s/" UID_FILE, folder);
  struct stat found;
  if (fstatat(disk, path, &found, 0) != 0) return failed(error, folder, UID_FILE);
  *out = (int64_t)found.st_mtim.tv_sec * 1000 + found.st_mtim.tv_nsec / 1000000;
  return DAVIT_OK;
}

int32_t disk_files(int disk, const char* folder, struct names* out, davit_error* error) {
  int open = -1;
  int32_t code = folder_at(disk, folder, &open, error);
  if (code != DAVIT_OK) return code;
  code = names_in(open, folder, out, error);
  close(open);
  size_t kept = 0;
  for (size_t i = 0; i < out->count; ++i) {
    if (out->all[i][0] == '.')
      free(out->all[i]);
    else
      out->all[kept++] = out->all[i];
  }
  out->count = kept;
  return code;
}

int32_t disk_has(int disk, const char* folder, const char* file, davit_str content, int* same,
                 davit_error* error) {
  int open = -1;
  enum found found = FOUND_NONE;
  int32_t code = folder_at(disk, folder, &open, error);
  if (code != DAVIT_OK) return code;
  code = look_at(open, folder, file, content, &found, error);
  close(open);
  *same = found == FOUND_SAME;
  return code;
}

int32_t disk_put(int disk, const char* folder, const char* file, davit_str content,
                 davit_error* error) {
  int open = -1;
  int32_t code = folder_at(disk, folder, &open, error);
  if (code != DAVIT_OK) return code;
  code = write_at(open, folder, file, content, error);
  if (code == DAVIT_OK) code = synchronised(open, folder, error);
  close(open);
  return code;
}

int32_t disk_retire(int disk, const char* folder, const char* uid, davit_error* error) {
  char gone[NAME_SIZE];
  gone_of(gone, uid);
  if (renameat(disk, folder, disk, gone) != 0) return failed(error, folder, NULL);
  return synchronised(disk, folder, error);
}

static int32_t remove_folder(int disk, const char* folder, davit_error* error) {
  const int open = openat(disk, folder, FOLDER | O_NOFOLLOW);
  if (open < 0) return errno == ENOENT ? DAVIT_OK : failed(error, folder, NULL);
  struct names names = {NULL, 0};
  int32_t code = names_in(open, folder, &names, error);
  for (size_t i = 0; i < names.count && code == DAVIT_OK; ++i) {
    if (unlinkat(open, names.all[i], 0) != 0) code = failed(error, folder, names.all[i]);
  }
  names_free(&names);
  close(open);
  if (code != DAVIT_OK) return code;
  if (unlinkat(disk, folder, AT_REMOVEDIR) != 0) return failed(error, folder, NULL);
  return synchronised(disk, folder, error);
}

int32_t disk_sweep(int disk, const char* uid, davit_error* error) {
  char folder[NAME_SIZE];
  new_of(folder, uid);
  const int32_t code = remove_folder(disk, folder, error);
  if (code != DAVIT_OK) return code;
  gone_of(folder, uid);
  return remove_folder(disk, folder, error);
}
