// Whether PEM texts are what they should be. Pure. Only pem.cpp includes OpenSSL.
#pragma once

#include "access.hpp"

namespace davit::cluster_kubernetes {

// FAILED_PRECONDITION: an authority or a certificate cannot be read to its end, or the key is not
// that of the certificate. Files that are being replaced look like that for a moment.
Result<> check_pem(const Access& access);

}  // namespace davit::cluster_kubernetes
