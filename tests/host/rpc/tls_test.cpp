// TLS with certificates of an authority of the test's own.
#include "certificates.hpp"
#include "rig.hpp"

namespace davit::host {
namespace {

using davit::rpc::Call;
using Reply = davit::rpc::Server::Reply;

struct Tls : Rig {
  Authority authority{folder, "ca"};
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
        "[rpc.server.main]\nlisten = \"127.0.0.1:0\"\n" + server_lines() + more_server +
        "[[rpc.server.main.token]]\nname = \"edge\"\nregions = [\"us-east-1\"]\nfile = \"" +
        folder.path("agent.token") + "\"\n");
    server.listen();
    client.configure("[rpc.client.control]\nregion = \"us-east-1\"\ntoken_file = \"" +
                     folder.path("agent.token") + "\"\n" + client_lines(ca) + more_client);
    channel = client.channel("control");
    const auto wired = client.try_wired();
    ASSERT_TRUE(wired.ok()) << wired.error().message;
  }
};

TEST(Tls, CarriesCalls) {
  Tls rig;
  rig.start_tls();
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Echo", "hello");
  EXPECT_EQ(o.code, Code::ok) << o;
  EXPECT_EQ(o.messages, std::vector<std::string>{"hello"});
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
  EXPECT_EQ(call(*plain, plain->channel("control"), "t.v1.S/Echo", "").code, Code::unavailable);
}

TEST(Tls, AClientCertificateIsAskedForWhenAnAuthorityForItIsNamed) {
  Tls rig;
  rig.authority.issue("agent");
  rig.start_tls("tls_client_ca_file = \"" + rig.folder.path("ca.crt") + "\"\n",
                "certificate_file = \"" + rig.folder.path("agent.crt") + "\"\nkey_file = \"" +
                    rig.folder.path("agent.key") + "\"\n");
  EXPECT_EQ(call(rig.client, rig.channel, "t.v1.S/Echo", "x").code, Code::ok);
  const auto without = rig.another("region = \"us-east-1\"\ntoken_file = \"" +
                                   rig.folder.path("agent.token") + "\"\n" + rig.client_lines());
  EXPECT_EQ(call(*without, without->channel("control"), "t.v1.S/Echo", "").code, Code::unavailable);
}

TEST(Tls, AnExpiredServerCertificateStopsTheStart) {
  Tls rig;
  rig.authority.issue("old", true);
  rig.server.configure("[rpc.server.main]\nlisten = \"127.0.0.1:0\"\n" + rig.server_lines("old") +
                       "[[rpc.server.main.token]]\nname = \"edge\"\nregions = [\"*\"]\nfile = \"" +
                       rig.folder.path("agent.token") + "\"\n");
  const auto r = rig.server.try_wired();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().message.rfind("test.toml:1: rpc.server.main: " + rig.folder.path("old.crt") +
                                        ": certificate expired on 20",
                                    0),
            0u)
      << r.error().message;
}

TEST(Tls, ACertificateThatHasExpiredSinceIsSaidSoToTheClient) {
  Tls rig;
  rig.start_tls();
  ASSERT_EQ(call(rig.client, rig.channel, "t.v1.S/Echo", "x").code, Code::ok);
  // The server reads its files again every ten seconds; so does a new connection's handshake then.
  rig.authority.issue("old", true);
  std::filesystem::rename(rig.folder.path("old.key"), rig.folder.path("server.key"));
  std::filesystem::rename(rig.folder.path("old.crt"), rig.folder.path("server.crt"));
  Outcome o;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(25);
  do {
    const auto fresh = rig.another("region = \"us-east-1\"\ntoken_file = \"" +
                                   rig.folder.path("agent.token") + "\"\n" + rig.client_lines());
    o = call(*fresh, fresh->channel("control"), "t.v1.S/Echo", "x");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  } while (o.code == Code::ok && std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(o.code, Code::unavailable) << o;
  EXPECT_NE(o.message.find("certificate"), std::string::npos) << o.message;
}

}  // namespace
}  // namespace davit::host
