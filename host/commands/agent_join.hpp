// davit agent join and leave: an agent of a running server, with its token, and the end of one.
#pragma once

#include "davit.hpp"

namespace davit::host {

CommandPtr join_verb();
CommandPtr leave_verb();

}  // namespace davit::host
