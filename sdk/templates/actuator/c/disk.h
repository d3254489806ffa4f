/* The directory with a folder for each cluster. A folder is one cluster's from the moment on that
 * it has its name, since it is made under another name and then renamed. What a kill or a power cut
 * leaves is either such a folder, or one that says in its name whose it is:
 *
 *   default_web/          a cluster: namespace_name
 *     .uid                whose it is
 *     kubeconfig          a file that the providerSpec names
 *   .0b3f-....new/        is being made, and has no name yet
 *   .0b3f-....gone/       is being removed, and has no name any more
 *
 * A directory without the file `.here` is not the one: perhaps it is where a volume was to be
 * mounted. Every function then fails, so that nothing seems to be removed that could not be seen.
 *
 * `disk` is the directory, open: what is done goes to the same one, also when it is moved
 * meanwhile. Each function returns when what it did is on the disk. Anything but DAVIT_OK is an
 * error, whose text has names and never the content of a file. */
#pragma once
#include <davit/abi.h>

struct names {
  char** all;
  size_t count;
};
void names_free(struct names* names);

enum owner { OWNER_NONE, OWNER_SELF, OWNER_OTHER };

/* Makes the directory and its mark if there is no directory yet. */
int32_t disk_make(const char* path, davit_error* error);
/* The caller closes it. */
int32_t disk_open(const char* path, int* disk, davit_error* error);

/* Whose folder this is. OWNER_NONE: there is no such folder. */
int32_t disk_owner(int disk, const char* folder, davit_str uid, enum owner* out,
                   davit_error* error);
/* Makes the folder. ALREADY_EXISTS when somebody was faster. */
int32_t disk_claim(int disk, const char* folder, davit_str uid, davit_error* error);
/* Removes what a kill has left of a file that was being written. */
int32_t disk_clean(int disk, const char* folder, davit_error* error);
/* When the folder was made, in milliseconds since 1970. */
int32_t disk_made_at_ms(int disk, const char* folder, int64_t* out, davit_error* error);
/* The files that a providerSpec has named. The caller frees them, also after an error. */
int32_t disk_files(int disk, const char* folder, struct names* out, davit_error* error);
/* Whether there is such a file with this content. */
int32_t disk_has(int disk, const char* folder, const char* file, davit_str content, int* same,
                 davit_error* error);
int32_t disk_put(int disk, const char* folder, const char* file, davit_str content,
                 davit_error* error);
int32_t disk_drop(int disk, const char* folder, const char* file, davit_error* error);
/* Takes the folder its name, at once. disk_sweep() removes it. */
int32_t disk_retire(int disk, const char* folder, const char* uid, davit_error* error);
/* Removes all of a cluster that has no name. */
int32_t disk_sweep(int disk, const char* uid, davit_error* error);
