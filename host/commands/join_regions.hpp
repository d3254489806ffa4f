// davit clusters join-regions.
#pragma once

#include "davit.hpp"

namespace davit::host {

CommandPtr join_regions_verb();

}  // namespace davit::host
