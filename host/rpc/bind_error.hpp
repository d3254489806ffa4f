// Why a TCP address could not be bound: transports only say that it was not.
#pragma once

#include <string>

namespace davit::host {

// Tries it anew, without listening, and returns the system's words ("address already in use").
std::string bind_error(const std::string& address);

// The system's words for an errno, as our messages have them: in lower case.
std::string system_words(int error);

}  // namespace davit::host
