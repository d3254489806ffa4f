// What a client of the host says in TLS about the server that it wants (Server Name Indication).
#include <fcntl.h>
#include <openssl/ssl.h>
#include <signal.h>

#include "certificates.hpp"
#include "rpc/listener.hpp"

namespace davit::host {
namespace {

// A server that shakes hands once, and is told a name or none.
class Named {
 public:
  explicit Named(const Folder& folder) : context_(SSL_CTX_new(TLS_server_method())) {
    SSL_CTX_use_certificate_file(context_, folder.path("server.crt").c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context_, folder.path("server.key").c_str(), SSL_FILETYPE_PEM);
    const auto bound = listener_.bind_tcp("127.0.0.1:0");
    EXPECT_TRUE(bound.ok());
    port_ = bound->substr(bound->rfind(':') + 1);
    EXPECT_TRUE(listener_.start([this](Descriptor fd) { greet(fd.get()); }, [](int) {}).ok());
  }
  ~Named() {
    listener_.stop();
    SSL_CTX_free(context_);
  }
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;

  const std::string& port() const { return port_; }
  std::string told() { return told_.get_future().get(); }

 private:
  void greet(int fd) {
    sigset_t broken_pipe;  // the client closes as soon as it sees that HTTP/2 is not offered
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    SSL* const ssl = SSL_new(context_);
    SSL_set_fd(ssl, fd);
    const bool shaken = SSL_accept(ssl) == 1;
    const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (!std::exchange(done_, true))
      told_.set_value(!shaken ? "no handshake" : name == nullptr ? "nothing" : name);
    SSL_free(ssl);
  }
  SSL_CTX* const context_;
  std::string port_;
  bool done_ = false;  // listener's thread only
  std::promise<std::string> told_;
  Listener listener_;
};

std::string name_told_for(const std::string& host) {
  const Folder folder;
  const Authority authority(folder, "ca");
  authority.issue("server");
  folder.write("agent.token", "agent-secret\n");
  Named server(folder);
  Side client("watcher");
  client.configure(
      "[rpc.client.control]\nregion = \"r\"\ntransport = \"connect\"\ntoken_file = \"" +
      folder.path("agent.token") + "\"\nca_file = \"" + authority.certificate() +
      "\"\nurl = \"https://" + host + ":" + server.port() + "\"");
  const auto channel = client.channel("control");
  EXPECT_EQ(call(client, channel, "t.v1.S/Echo", "x").code, Code::unavailable);
  return server.told();
}

TEST(ServerName, IsTheHostOfTheUrl) {
  EXPECT_EQ(name_told_for("localhost"), "localhost");
}

TEST(ServerName, AnAddressIsNone) {
  EXPECT_EQ(name_told_for("127.0.0.1"), "nothing");
}

}  // namespace
}  // namespace davit::host
