// What `davit --version` prints: which davit this is, how it was built, and which plugins it takes.
// A library of its own, because it changes with each commit and nothing else must.
#pragma once

#include <string>

namespace davit::host {

// Lines without the last line feed. The first is "davit 0.1.0", for scripts.
std::string version_text();

}  // namespace davit::host
