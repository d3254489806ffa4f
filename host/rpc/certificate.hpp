// A look at certificate files before TLS uses them, so that a start-up error says what is wrong
// with which file.
#pragma once

#include <string>

#include <davit/types.hpp>

namespace davit::host {

// The chain can be read, its first certificate is valid now and belongs to the key.
// FAILED_PRECONDITION with the file.
Result<> check_certificate(const std::string& certificate_file, const std::string& key_file);
// There is at least one certificate in the file.
Result<> check_ca(const std::string& ca_file);

}  // namespace davit::host
