#include "credentials.hpp"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "../server_certificate.hpp"

namespace davit::host {

namespace {

constexpr unsigned check_interval_s = 10;

using Watcher = grpc::experimental::FileWatcherCertificateProvider;

// gRPC calls this at every handshake and keeps its certificate if there is no new one. Its own file
// watcher does not do: it also takes a certificate and a key that do not belong together, and then
// every handshake fails.
grpc_ssl_certificate_config_reload_status fetch(void* certificate,
                                                grpc_ssl_server_certificate_config** out) {
  const auto pem = static_cast<ServerCertificate*>(certificate)->take();
  if (!pem) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair = {pem->key.c_str(), pem->certificate.c_str()};
  // gRPC needs an authority even if it does not ask clients for a certificate.
  const std::string& authority = pem->client_ca.empty() ? pem->certificate : pem->client_ca;
  *out = grpc_ssl_server_certificate_config_create(authority.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

// Server credentials that are fetched at each handshake. The C++ library has no class for them.
class AskedForCredentials final : public grpc::ServerCredentials {
 public:
  AskedForCredentials(ServerCertificate& certificate, bool of_clients)
      : credentials_(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                of_clients ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                           : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
                &fetch, &certificate))) {}
  ~AskedForCredentials() override { grpc_server_credentials_release(credentials_); }
  // The server checks the credentials of calls itself: see GrpcServer::identify.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }
  grpc_server_credentials* const credentials_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> server_credentials(const ServerSettings& s,
                                                            ServerCertificate& certificate) {
  if (!s.tls()) return grpc::InsecureServerCredentials();
  return std::make_shared<AskedForCredentials>(certificate, !s.client_ca_file.empty());
}

std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const ClientSettings& c) {
  if (!c.tls()) return grpc::InsecureChannelCredentials();
  if (c.ca_file.empty() && c.certificate_file.empty()) return grpc::SslCredentials({});
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(
      std::make_shared<Watcher>(c.key_file, c.certificate_file, c.ca_file, check_interval_s));
  if (!c.ca_file.empty()) options.watch_root_certs();  // otherwise the system's authorities
  if (!c.certificate_file.empty()) options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}

}  // namespace davit::host
