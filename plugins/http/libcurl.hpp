// How our plugins begin libcurl, and what they say of its failures. It copies headers and bodies,
// which may have secrets, so memory that it gives back is overwritten first.
#pragma once

#include <string>
#include <string_view>

namespace davit::http {

// Before any other use of libcurl. Whoever is first in the process decides about its memory. Any
// thread.
void start_libcurl();

// Why a transfer failed: what libcurl wrote (CURLOPT_ERRORBUFFER), or where that is empty, what its
// code (CURLcode) means. It leaves out how long the transfer took and how many bytes came, so that
// failures for one reason have one text: whoever says a new reason once can tell it from the last.
std::string why_it_failed(int code, std::string_view said);

}  // namespace davit::http
