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

// Starts the program once more in this process, with every function of its libraries looked up at
// the start (LD_BIND_NOW, ld.so(8)). Otherwise the dynamic linker saves all registers on the stack
// at the first call of a function, and a vector register may have a piece of a secret that was
// copied just before: nobody would overwrite it there. Returns if it was started so, or cannot be.
// Only before there are threads.
void bind_libraries_early();

}  // namespace davit::host
