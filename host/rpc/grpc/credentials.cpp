#include "credentials.hpp"

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

namespace davit::host {

namespace {

constexpr unsigned check_interval_s = 10;

using Watcher = grpc::experimental::FileWatcherCertificateProvider;

}  // namespace

std::shared_ptr<grpc::ServerCredentials> server_credentials(const ServerSettings& s) {
  if (!s.tls()) return grpc::InsecureServerCredentials();
  grpc::experimental::TlsServerCredentialsOptions options(std::make_shared<Watcher>(
      s.key_file, s.certificate_file, s.client_ca_file, check_interval_s));
  options.watch_identity_key_cert_pairs();
  if (!s.client_ca_file.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const ClientSettings& c) {
  if (!c.tls()) return grpc::InsecureChannelCredentials();
  if (c.ca_file.empty() && c.certificate_file.empty()) return grpc::SslCredentials({});
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(
      std::make_shared<Watcher>(c.key_file, c.certificate_file, c.ca_file, check_interval_s));
  if (!c.ca_file.empty()) options.watch_root_certs();  // otherwise the system's
  if (!c.certificate_file.empty()) options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}

}  // namespace davit::host
