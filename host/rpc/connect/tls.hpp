// TLS of a server and of a client, as Asio has it: 1.2 or newer, with ALPN for HTTP/2.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include <davit/types.hpp>

#include "../server_certificate.hpp"

namespace davit::host {

// HTTP/2 when the caller offers it, else HTTP/1.1.
Result<std::shared_ptr<boost::asio::ssl::context>> server_tls(const ServerCertificate::Pem&);
// Files are read; the error names the one that cannot be used.
Result<std::shared_ptr<boost::asio::ssl::context>> client_tls(const ClientSettings&);

}  // namespace davit::host
