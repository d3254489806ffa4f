// TLS with certificates of an authority of the test's own.
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "certificates.hpp"
#include "raw.hpp"

namespace davit::host {
namespace {

using davit::rpc::Call;
using Reply = davit::rpc::Server::Reply;

struct Tls : Rig {
  Authority authority{folder, "ca"};
  std::string listen = "127.0.0.1:0";
  Tls() {
    authority.issue("server");
    serve_unary("t.v1.S/Echo", "agent",
                [](Call, Buffer b, Reply reply) { reply(std::string(b.view())); });
  }
  std::string server_lines(const std::string& name = "server") const {
    return "tls_certificate_file = \"" + folder.path(name + ".crt") + "\"\ntls_key_file = \"" +
           folder.path(name + ".key") + "\"\n";
  }
  std::string client_lines(const std::string& ca = "ca") const {
    return "url = \"https://" + address() + "\"\nca_file = \"" + folder.path(ca + ".crt") + "\"\n";
  }
  // The client's url needs the server's port, so the server comes first.
  void start_tls(const std::string& more_server = {}, const std::string& more_client = {},
                 const std::string& ca = "ca") {
    server.configure(
        "[rpc.server.main]\nlisten = \"" + listen + "\"\n" + transport_line() + server_lines() +
        more_server +
        "[[rpc.server.main.token]]\nname = \"edge\"\nregions = [\"us-east-1\"]\nfile = \"" +
        folder.path("agent.token") + "\"\n");
    server.listen();
    client.configure("[rpc.client.control]\nregion = \"us-east-1\"\ntoken_file = \"" +
                     folder.path("agent.token") + "\"\n" + transport_line() + client_lines(ca) +
                     more_client);
    channel = client.channel("control");
    const auto wired = client.try_wired();
    ASSERT_TRUE(wired.ok()) << wired.error().message;
  }
  // The server wants one of its authority; the client's is "agent".
  void start_with_client_certificates() {
    authority.issue("agent");
    start_tls("tls_client_ca_file = \"" + folder.path("ca.crt") + "\"\n",
              "certificate_file = \"" + folder.path("agent.crt") + "\"\nkey_file = \"" +
                  folder.path("agent.key") + "\"\n");
  }
};

TEST(Tls, CarriesCalls) {
  Tls rig;
  rig.start_tls();
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Echo", "hello");
  EXPECT_EQ(o.code, Code::ok) << o;
  EXPECT_EQ(o.messages, std::vector<std::string>{"hello"});
}

bool has_ipv6() {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 at{};
  at.sin6_family = AF_INET6;
  at.sin6_addr = in6addr_loopback;
  const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  close(fd);
  return bound;
}

TEST(Tls, TheCertificateOfAnIpv6AddressIsKnown) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  Tls rig;
  rig.listen = "[::1]:0";
  rig.start_tls();
  ASSERT_TRUE(rig.address().starts_with("[::1]:")) << rig.address();
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Echo", "hello");
  EXPECT_EQ(o.code, Code::ok) << o;
}

TEST(Tls, AnUnknownAuthorityIsRefused) {
  Tls rig;
  const Authority other(rig.folder, "other");
  rig.start_tls({}, {}, "other");
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Echo", "hello");
  EXPECT_EQ(o.code, Code::unavailable) << o;
  EXPECT_NE(o.message.find("certificate"), std::string::npos) << o.message;
}

TEST(Tls, PlainTextToATlsPortFails) {
  Tls rig;
  rig.start_tls();
  const auto plain = rig.another("region = \"us-east-1\"\nurl = \"http://" + rig.address() +
                                 "\"\ntoken_file = \"" + rig.folder.path("agent.token") + "\"");
  const Outcome o = call(*plain, plain->channel("control"), "t.v1.S/Echo", "");
  EXPECT_EQ(o.code, Code::unavailable);
  EXPECT_NE(o.message.find(" (if the server speaks TLS, its url begins with https://)"),
            std::string::npos)
      << o.message;
}

TEST(Tls, ToAPlainTextPortFails) {
  Rig rig;
  rig.start();
  const auto tls = rig.another("region = \"us-east-1\"\nurl = \"https://" + rig.address() +
                               "\"\ntoken_file = \"" + rig.folder.path("agent.token") + "\"");
  const Outcome o = call(*tls, tls->channel("control"), "t.v1.S/Echo", "");
  EXPECT_EQ(o.code, Code::unavailable);
  EXPECT_NE(o.message.find(" (if the server does not speak TLS, its url begins with http://)"),
            std::string::npos)
      << o.message;
}

TEST(Tls, AClientCertificateIsAskedForWhenAnAuthorityForItIsNamed) {
  Tls rig;
  rig.start_with_client_certificates();
  EXPECT_EQ(call(rig.client, rig.channel, "t.v1.S/Echo", "x").code, Code::ok);
  const auto without = rig.another("region = \"us-east-1\"\ntoken_file = \"" +
                                   rig.folder.path("agent.token") + "\"\n" + rig.client_lines());
  EXPECT_EQ(call(*without, without->channel("control"), "t.v1.S/Echo", "").code, Code::unavailable);
}

// A client that shows a certificate, and one connection after the other.
class Resumer {
 public:
  Resumer(const Tls& rig, int version) : rig_(rig), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_min_proto_version(context_, version);
    SSL_CTX_set_max_proto_version(context_, version);
    EXPECT_EQ(SSL_CTX_use_certificate_file(context_, rig.folder.path("agent.crt").c_str(),
                                           SSL_FILETYPE_PEM),
              1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey_file(context_, rig.folder.path("agent.key").c_str(),
                                          SSL_FILETYPE_PEM),
              1);
  }
  ~Resumer() {
    SSL_SESSION_free(session_);
    SSL_CTX_free(context_);
  }
  Resumer(const Resumer&) = delete;
  Resumer& operator=(const Resumer&) = delete;

  // Connects with the session of the connection before. "new" or "resumed", or what went wrong.
  std::string connect() {
    BIO* bio = BIO_new_connect(rig_.address().c_str());
    EXPECT_EQ(BIO_do_connect(bio), 1);
    SSL* ssl = SSL_new(context_);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>("\x02h2"), 3);
    if (session_ != nullptr) SSL_set_session(ssl, session_);
    const std::string out = talk(ssl);
    // The sessions of TLS 1.3 come after the handshake. One that was not shut down may not be used.
    SSL_SESSION_free(std::exchange(session_, SSL_get1_session(ssl)));
    SSL_shutdown(ssl);
    SSL_free(ssl);
    return out;
  }

 private:
  static std::string talk(SSL* ssl) {
    ERR_clear_error();
    const std::string hello = Raw::preface() + Raw::frame(Raw::settings, Raw::none, 0, {});
    char answer = 0;
    if (SSL_connect(ssl) == 1 && SSL_write(ssl, hello.data(), static_cast<int>(hello.size())) > 0 &&
        SSL_read(ssl, &answer, 1) == 1)
      return SSL_session_reused(ssl) == 1 ? "resumed" : "new";
    const char* why = ERR_reason_error_string(ERR_peek_last_error());
    return why != nullptr ? why : "closed";
  }
  const Tls& rig_;
  SSL_CTX* context_;
  SSL_SESSION* session_ = nullptr;
};

TEST(Tls, AClientWithACertificateMayResumeItsSession) {
  Tls rig;
  rig.start_with_client_certificates();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Resumer client(rig, version);
    EXPECT_EQ(client.connect(), "new");
    EXPECT_EQ(client.connect(), "resumed") << std::hex << version;
  }
}

TEST(Tls, FilesThatCannotBeUsedStopTheStart) {
  Tls rig;
  rig.authority.issue("old", -1);
  rig.authority.issue("other");
  rig.folder.write("garbage", "-----BEGIN CERTIFICATE-----\nnonsense\n");
  const auto refused = [&](const std::string& certificate, const std::string& key,
                           const std::string& more = {}) {
    Side server("s");
    server.configure("[rpc.server.main]\nlisten = \"127.0.0.1:0\"\ntls_certificate_file = \"" +
                     rig.folder.path(certificate) + "\"\ntls_key_file = \"" + rig.folder.path(key) +
                     "\"\n" + more +
                     "[[rpc.server.main.token]]\nname = \"edge\"\nregions = [\"*\"]\nfile = \"" +
                     rig.folder.path("agent.token") + "\"\n");
    const auto r = server.try_wired();
    const std::string front = "test.toml:1: rpc.server.main: " + rig.folder.path("");
    if (r.ok() || r.error().message.rfind(front, 0) != 0)
      return "not refused: " + (r.ok() ? "" : r.error().message);
    return r.error().message.substr(front.size());
  };
  EXPECT_EQ(refused("old.crt", "old.key").rfind("old.crt: certificate expired on 20", 0), 0u);
  EXPECT_EQ(refused("server.crt", "other.key"),
            "other.key: the key does not belong to " + rig.folder.path("server.crt"));
  EXPECT_EQ(refused("garbage", "server.key"), "garbage: not a PEM certificate");
  EXPECT_EQ(refused("server.crt", "garbage"), "garbage: not a PEM private key without a password");
  EXPECT_EQ(refused("gone.crt", "server.key"), "gone.crt: no such file or directory");
  EXPECT_EQ(refused("server.crt", "server.key",
                    "tls_client_ca_file = \"" + rig.folder.path("garbage") + "\"\n"),
            "garbage: not a PEM certificate");
}

// A server's certificate is replaced while it runs.
struct Rotated : Tls {
  Authority next{folder, "next"};
  Rotated() { next.issue("new"); }
  void replace(const std::string& with, const std::string& extension) const {
    std::filesystem::rename(folder.path(with + extension), folder.path("server" + extension));
  }
  // A new connection of a client that believes in this authority only.
  Outcome fresh(const std::string& ca) {
    const auto side = another("region = \"us-east-1\"\ntoken_file = \"" +
                              folder.path("agent.token") + "\"\n" + client_lines(ca));
    return call(*side, side->channel("control"), "t.v1.S/Echo", "x");
  }
  bool logged(const std::string& what) const {
    for (const auto& line : server.lines()) {
      if (line.find(what) != std::string::npos) return true;
    }
    return false;
  }
};

TEST(Tls, CertificateAndKeyMayBeReplacedOneAfterTheOther) {
  Rotated rig;
  rig.start_tls();
  ASSERT_EQ(call(rig.client, rig.channel, "t.v1.S/Echo", "x").code, Code::ok);
  rig.replace("new", ".crt");
  ASSERT_TRUE(eventually([&] { return rig.logged("the key does not belong to"); }));
  EXPECT_EQ(rig.fresh("ca").code, Code::ok) << "the old pair stays";
  EXPECT_EQ(rig.fresh("next").code, Code::unavailable);
  rig.replace("new", ".key");
  EXPECT_TRUE(eventually([&] { return rig.fresh("next").code == Code::ok; }));
  EXPECT_EQ(rig.fresh("ca").code, Code::unavailable);
  EXPECT_TRUE(rig.logged("certificate files read"));
  // Whoever is connected stays so.
  EXPECT_EQ(call(rig.client, rig.channel, "t.v1.S/Echo", "x").code, Code::ok);
}

TEST(Tls, WhatCannotBeUsedIsNotTakenWhileItRuns) {
  Rotated rig;
  rig.start_tls();
  rig.next.issue("old", -1);
  rig.replace("old", ".key");
  ASSERT_TRUE(eventually([&] { return rig.logged("the key does not belong to"); }));
  rig.replace("old", ".crt");
  ASSERT_TRUE(eventually([&] { return rig.logged("certificate expired on"); }));
  EXPECT_EQ(rig.fresh("ca").code, Code::ok);
  rig.folder.write("server.crt", "nonsense");
  std::filesystem::remove(rig.folder.path("server.key"));
  EXPECT_EQ(rig.fresh("ca").code, Code::ok);
  rig.replace("new", ".crt");
  rig.replace("new", ".key");
  EXPECT_TRUE(eventually([&] { return rig.fresh("next").code == Code::ok; }));
}

TEST(Tls, TheAuthorityOfClientsIsReadAgainToo) {
  Rotated rig;
  rig.authority.issue("agent");
  std::filesystem::copy(rig.folder.path("next.crt"), rig.folder.path("clients.crt"));
  rig.start_tls("tls_client_ca_file = \"" + rig.folder.path("clients.crt") + "\"\n",
                "certificate_file = \"" + rig.folder.path("agent.crt") + "\"\nkey_file = \"" +
                    rig.folder.path("agent.key") + "\"\n");
  EXPECT_EQ(call(rig.client, rig.channel, "t.v1.S/Echo", "x").code, Code::unavailable);
  std::filesystem::copy(rig.folder.path("ca.crt"), rig.folder.path("clients.crt"),
                        std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(eventually(
      [&] { return call(rig.client, rig.channel, "t.v1.S/Echo", "x").code == Code::ok; }));
}

TEST(Tls, WhoseAuthorityIsTakenAwayIsNotServedAnyMore) {
  Rotated rig;
  rig.authority.issue("agent");
  std::filesystem::copy(rig.folder.path("ca.crt"), rig.folder.path("clients.crt"));
  rig.start_tls("tls_client_ca_file = \"" + rig.folder.path("clients.crt") + "\"\n",
                "certificate_file = \"" + rig.folder.path("agent.crt") + "\"\nkey_file = \"" +
                    rig.folder.path("agent.key") + "\"\n");
  ASSERT_EQ(call(rig.client, rig.channel, "t.v1.S/Echo", "x").code, Code::ok);
  std::filesystem::copy(rig.folder.path("next.crt"), rig.folder.path("clients.crt"),
                        std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(eventually(
      [&] { return call(rig.client, rig.channel, "t.v1.S/Echo", "x").code == Code::unavailable; }));
}

constexpr double day_s = 24 * 3600;

// 0: it is not shown.
double end_shown(const Side& side, const std::string& whose) {
  const std::string metric = "davit_rpc_certificate_not_after_timestamp_seconds{" + whose + "} ";
  const std::string shown = side.metrics.expose();
  const size_t at = shown.find(metric);
  return at == std::string::npos ? 0 : std::stod(shown.substr(at + metric.size()));
}

TEST(Tls, ACertificateThatEndsSoonIsSaidSoAndItsEndIsAMetric) {
  Rotated soon, late;
  late.authority.issue("server", 90);
  soon.start_tls();
  late.start_tls();
  EXPECT_TRUE(soon.logged("certificate ends soon"));
  EXPECT_FALSE(late.logged("certificate ends soon"));
  const double now = static_cast<double>(std::time(nullptr));
  EXPECT_NEAR(end_shown(soon.server, "server=\"main\""), now + day_s, day_s / 2);
  EXPECT_NEAR(end_shown(late.server, "server=\"main\""), now + 90 * day_s, day_s / 2);
}

TEST(Tls, SoIsTheEndOfAClientsCertificateAndOfTheOneThatTakesItsPlace) {
  Tls rig;
  rig.start_with_client_certificates();
  ASSERT_TRUE(rig.client.rpc.listen().ok());
  const auto said = [&](const std::string& what) {
    const auto lines = rig.client.lines();
    return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(what + " client=control") != std::string::npos;
    });
  };
  const std::string near = "certificate ends soon: renew it";
  const double now = static_cast<double>(std::time(nullptr));
  const std::string client = "client=\"control\"";
  EXPECT_NEAR(end_shown(rig.client, client), now + day_s, day_s / 2);
  EXPECT_EQ(said(near), 1);
  rig.authority.issue("agent", 90);
  EXPECT_TRUE(eventually([&] { return end_shown(rig.client, client) > now + 80 * day_s; }))
      << end_shown(rig.client, client);
  EXPECT_EQ(said(near), 1);
  const std::string unusable = "certificate files cannot be used";
  const auto before = said(unusable);  // 1 if it looked between the new certificate and its key
  std::filesystem::rename(rig.folder.write("nonsense", "nonsense"), rig.folder.path("agent.crt"));
  EXPECT_TRUE(eventually([&] { return said(unusable) > before; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(2'200));  // two more looks
  EXPECT_EQ(said(unusable), before + 1);
  EXPECT_GT(end_shown(rig.client, client), now + 80 * day_s) << "what it had read stays";
}

TEST(Tls, ACheckSaysWhichCertificatesEndSoon) {
  Tls rig;
  rig.authority.issue("late", 90);
  const auto warnings = [&](const std::string& toml) {
    Side side("s");
    side.configure(toml);
    EXPECT_TRUE(side.rpc.wired(true).ok());
    std::string out;
    for (const auto& line : side.lines()) {
      if (line.find("certificate ends soon") != std::string::npos) out += line + "\n";
    }
    return out;
  };
  const auto token = "\"" + rig.folder.path("agent.token") + "\"\n";
  const auto server = [&](const std::string& certificate) {
    return "[rpc.server.main]\nlisten = \"127.0.0.1:0\"\n" + rig.server_lines(certificate) +
           "[[rpc.server.main.token]]\nname = \"edge\"\nregions = [\"a\"]\nfile = " + token;
  };
  const auto client = [&](const std::string& certificate) {
    return "[rpc.client.control]\nregion = \"a\"\nurl = \"https://127.0.0.1:1\"\ntoken_file = " +
           token + "certificate_file = \"" + rig.folder.path(certificate + ".crt") +
           "\"\nkey_file = \"" + rig.folder.path(certificate + ".key") + "\"\n";
  };
  EXPECT_NE(warnings(server("server")).find("server=main"), std::string::npos);
  EXPECT_NE(warnings(client("server")).find("client=control"), std::string::npos);
  EXPECT_EQ(warnings(server("late")), "");
  EXPECT_EQ(warnings(client("late")), "");
}

TEST(Tls, ACertificateThatHasExpiredSinceIsSaidSoToTheClient) {
  Rotated rig;
  rig.authority.end_soon("server", 10);
  rig.start_tls();
  ASSERT_EQ(call(rig.client, rig.channel, "t.v1.S/Echo", "x").code, Code::ok);
  Outcome o;
  EXPECT_TRUE(eventually([&] {
    o = rig.fresh("ca");
    return o.code == Code::unavailable;
  }));
  EXPECT_NE(o.message.find("certificate"), std::string::npos) << o.message;
}

}  // namespace
}  // namespace davit::host
