// Keeps other users from the secrets in the process's memory and files, which contain payloads and
// tokens.
#pragma once

namespace davit::host {

// From now on only the process's user can use the files that it creates, whatever umask it was
// started with. Code that needs another mode sets it on the file (a socket for a group).
void keep_files_private();

// The process leaves no core dump, whatever limit it was started with, and no other process of its
// user can read its memory.
void forbid_core_dumps();

}  // namespace davit::host
