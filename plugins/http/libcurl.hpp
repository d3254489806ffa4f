// How our plugins begin libcurl. It copies headers and bodies, which may have secrets, so memory
// that it gives back is overwritten first.
#pragma once

namespace davit::http {

// Before any other use of libcurl. Whoever is first in the process decides about its memory. Any
// thread.
void start_libcurl();

}  // namespace davit::http
