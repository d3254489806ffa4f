// TLS contexts for Asio, for ConnectServer and ConnectClient: version 1.2 or newer, with ALPN for
// HTTP/2.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include <davit/types.hpp>

#include "../server_certificate.hpp"

namespace davit::host {

// Chooses HTTP/2 if the caller offers it, else HTTP/1.1.
Result<std::shared_ptr<boost::asio::ssl::context>> server_tls(const ServerCertificate::Pem&);
// Reads the files. The error names the one that cannot be used.
Result<std::shared_ptr<boost::asio::ssl::context>> client_tls(const ClientSettings&);

}  // namespace davit::host
