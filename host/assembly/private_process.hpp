// What keeps the secrets of a process to its user: payloads and tokens pass through its memory and
// its files.
#pragma once

namespace davit::host {

// From now on files that the process makes are for its user alone, whatever umask it was started
// with. Who wants another mode sets it on the file (a socket for a group).
void keep_files_private();

// No core dump, whatever limit it was started with; and no other process of its user can read its
// memory.
void forbid_core_dumps();

}  // namespace davit::host
