// Makes gRPC's TLS credentials for servers and clients. They follow changes of the files, so a
// certificate is renewed by replacing its files.
#pragma once

#include <memory>

#include "../settings.hpp"

namespace grpc {
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace davit::host {

class ServerCertificate;

// With TLS, `certificate` must be loaded and must outlive the server. Without TLS it is not used.
std::shared_ptr<grpc::ServerCredentials> server_credentials(const ServerSettings&,
                                                            ServerCertificate&);
std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const ClientSettings&);

}  // namespace davit::host
