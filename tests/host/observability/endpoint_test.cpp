#include "observability/endpoint.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/config.hpp"
#include "config/faults.hpp"
#include "runtime/runtime.hpp"
#include "services/health.hpp"
#include "services/log.hpp"
#include "services/metrics.hpp"
#include "services/shutdown.hpp"

#include "../port.hpp"

namespace davit::host {
namespace {

constexpr int patience_ms = 90'000;

class Scraper {
 public:
  explicit Scraper(uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  ~Scraper() { close(fd_); }
  Scraper(const Scraper&) = delete;
  Scraper& operator=(const Scraper&) = delete;

  void say(const std::string& text) const {
    EXPECT_EQ(send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Until the other side closes.
  std::string all() const {
    std::string out;
    char buffer[4'096];
    pollfd p = {fd_, POLLIN, 0};
    while (poll(&p, 1, patience_ms) > 0) {
      const ssize_t n = recv(fd_, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      out.append(buffer, static_cast<size_t>(n));
    }
    return out;
  }

 private:
  int fd_ = -1;
};

TEST(Endpoint, AnswersAProbeHoweverManySlowOnesThereAre) {
  Log log([](std::string_view) {});
  Metrics metrics;
  Health health;
  Shutdown shutdown;
  Runtime runtime(2);
  const Core core{log, runtime, metrics, health, shutdown};
  const auto endpoint = make_endpoint(core);
  const test::Port port;
  Faults faults;
  endpoint->configure(
      Config::parse("[host]\nmetrics_listen = \"" + port.address() + "\"", "t.toml", faults),
      faults);
  const auto listening = endpoint->listen();
  ASSERT_TRUE(listening.ok()) << listening.error().message;
  std::vector<std::unique_ptr<Scraper>> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(std::make_unique<Scraper>(port.number()));
    slow.back()->say("GET /metr");
  }
  const Scraper probe(port.number());
  probe.say("GET /healthz HTTP/1.1\r\n\r\n");
  EXPECT_EQ(probe.all().substr(0, 15), "HTTP/1.1 200 OK");
  EXPECT_EQ(slow.front()->all(), "") << "the slowest made room";
  endpoint->stop(std::chrono::steady_clock::now());
  runtime.shutdown(std::chrono::steady_clock::now() + std::chrono::seconds(5));
}

}  // namespace
}  // namespace davit::host
