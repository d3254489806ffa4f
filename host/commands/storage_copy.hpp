// davit storage copy --from A.toml --to B.toml: moves a store into another one, of the same plugin
// or of another.
#pragma once

#include <memory>

#include "davit.hpp"
#include "output.hpp"

namespace davit::host {

CommandPtr copy_verb(std::shared_ptr<const Format> format);

}  // namespace davit::host
