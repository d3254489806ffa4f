// Names the plugin that ends the process: by a fault in memory, abort() or exit(). It prints one
// line on standard error, from the steps of the thread that it happens on:
//
//   storage_x (instance main): died in storage.commit, called by recorder: SIGSEGV
//
// Afterwards everything goes on as without it: a sanitizer reports, the process leaves its core
// dump, and whoever started the process sees the signal.
//
// _exit() cannot be seen from within the process.
#pragma once

namespace davit::host {

// From now on a death is told. Any thread, more than once is harmless.
void tell_deaths();
// The death has been told otherwise: prints nothing any more.
void death_is_told();

}  // namespace davit::host
