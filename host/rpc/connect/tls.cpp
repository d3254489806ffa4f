#include "tls.hpp"

#include <algorithm>
#include <string_view>

namespace davit::host {

namespace {

namespace ssl = boost::asio::ssl;
using ContextPtr = std::shared_ptr<ssl::context>;

// In the format of the wire: a length before each name.
constexpr unsigned char http2_only[] = "\x02h2";
constexpr unsigned char session_id[] = "davit";

int choose(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
           unsigned offered_size, void*) {
  static constexpr unsigned char ours[] = "\x02h2\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int r =
      SSL_select_next_proto(&chosen, out_size, ours, sizeof ours - 1, offered, offered_size);
  *out = chosen;
  return r == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

boost::asio::const_buffer bytes(const std::string& s) {
  return boost::asio::buffer(s.data(), s.size());
}

ContextPtr make(ssl::context::method method) {
  auto out = std::make_shared<ssl::context>(method);
  out->set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 |
                   ssl::context::no_tlsv1_1 | ssl::context::no_sslv2 | ssl::context::no_sslv3);
  return out;
}

Result<ContextPtr> with_certificate(ContextPtr context, const std::string& certificate,
                                    const std::string& key) {
  boost::system::error_code bad;
  context->use_certificate_chain(bytes(certificate), bad);
  if (!bad) context->use_private_key(bytes(key), ssl::context::pem, bad);
  if (bad) return Error{Code::failed_precondition, "TLS: " + bad.message()};
  return context;
}

Error authority_error(const boost::system::error_code& bad) {
  return {Code::failed_precondition, "TLS: the authority's certificates: " + bad.message()};
}

}  // namespace

Result<ContextPtr> server_tls(const ServerCertificate::Pem& pem) {
  auto made = with_certificate(make(ssl::context::tls_server), pem.certificate, pem.key);
  if (!made.ok()) return made;
  const ContextPtr& context = *made;
  SSL_CTX_set_alpn_select_cb(context->native_handle(), &choose, nullptr);
  if (pem.client_ca.empty()) return made;
  boost::system::error_code bad;
  context->add_certificate_authority(bytes(pem.client_ca), bad);
  if (bad) return authority_error(bad);
  context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
  // Without an id OpenSSL refuses a client that resumes a session in which it showed a certificate.
  // Sessions end with their context, so other authorities need no other id.
  SSL_CTX_set_session_id_context(context->native_handle(), session_id, sizeof session_id - 1);
  return made;
}

Result<ContextPtr> client_tls(const ClientSettings& s) {
  ContextPtr context = make(ssl::context::tls_client);
  context->set_verify_mode(ssl::verify_peer);
  boost::system::error_code bad;
  if (s.ca_file.empty()) {
    context->set_default_verify_paths(bad);
  } else {
    auto authority = read_ca(s.ca_file);
    if (!authority.ok()) return authority.error();
    context->add_certificate_authority(bytes(*authority), bad);
  }
  if (bad) return authority_error(bad);
  SSL_CTX_set_alpn_protos(context->native_handle(), http2_only, sizeof http2_only - 1);
  if (s.certificate_file.empty()) return context;
  auto mine = read_certificate(s.certificate_file, s.key_file);
  if (!mine.ok()) return mine.error();
  return with_certificate(std::move(context), mine->certificate, mine->key);
}

}  // namespace davit::host
