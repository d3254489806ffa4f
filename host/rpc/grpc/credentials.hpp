// TLS for listeners and channels. Files are watched: a certificate is renewed by replacing them.
#pragma once

#include <memory>

#include "../settings.hpp"

namespace grpc {
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace davit::host {

class ServerCertificate;

// Without TLS the certificate is not looked at; otherwise it is loaded, and outlives the server.
std::shared_ptr<grpc::ServerCredentials> server_credentials(const ServerSettings&,
                                                            ServerCertificate&);
std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const ClientSettings&);

}  // namespace davit::host
