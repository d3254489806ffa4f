// The whole plugin against servers that compress their answers.
#include <zlib.h>

#include "scripted_peer.hpp"

namespace davit::cluster_kubernetes {
namespace {

std::string gzip(const std::string& text) {
  constexpr int gzip_window = 15 + 16;
  z_stream z{};
  deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

constexpr const char* in_gzip = "Content-Encoding: gzip\r\n";
constexpr const char* asks_for_gzip = "Accept-Encoding: gzip\r\n";

bool asked(const std::string& request) {
  return request.find(asks_for_gzip) != std::string::npos;
}

class Compression : public Edge {};

TEST_F(Compression, AListIsAskedForCompressedAndReadWhole) {
  const std::string list = "{\"items\":[" + std::string(3'000'000, ' ') + "]}";
  ScriptedPeer peer([&](const std::string& request) {
    return asked(request) ? http("200 OK", gzip(list), in_gzip) : http("200 OK", "not asked");
  });
  Running running(config(peer.port));
  const auto r = running.get("");
  EXPECT_EQ(r.code, Code::ok) << r.message;
  EXPECT_EQ(r.body, list);
  EXPECT_TRUE(running.host.run_until(
      [&] { return running.host.metric("davit_cluster_received_bytes_total") > 0; }, patience));
  EXPECT_LT(running.host.metric("davit_cluster_received_bytes_total"), 10'000)
      << "what came, not what became of it";
}

TEST_F(Compression, AnAnswerThatGrowsOutOfBoundsIsRefused) {
  const std::string once = gzip(std::string(64u << 20, ' '));
  ASSERT_LT(once.size(), 100'000u) << "what comes is within the bound";
  ScriptedPeer peer([&](const std::string&) { return http("200 OK", once, in_gzip); });
  Running running(config(peer.port, {{"response_bytes_max", 1 << 20}}));
  const auto r = running.get("");
  EXPECT_EQ(r.code, Code::resource_exhausted);
  EXPECT_EQ(r.message, "the answer has more than 1048576 bytes (response_bytes_max)");
}

TEST_F(Compression, RubbishIsNoAnswer) {
  const std::string whole = gzip(std::string(100'000, 'x'));
  std::string wrong = whole;
  wrong[wrong.size() - 5] ^= 1;  // in the checksum
  for (const auto& body :
       {std::string("rubbish"), whole.substr(0, whole.size() / 2), whole.substr(0, 10),
        whole.substr(0, whole.size() - 1), wrong, whole + "x"}) {
    ScriptedPeer peer([&](const std::string&) { return http("200 OK", body, in_gzip); });
    Running running(config(peer.port));
    const auto r = running.get("a");
    EXPECT_EQ(r.code, Code::unavailable) << body.size() << ": " << r.body.size();
    EXPECT_EQ(r.message, "the answer is said to be gzip, and is none or is cut");
  }
}

TEST_F(Compression, ItIsNotAskedForWhenItIsSwitchedOff) {
  ScriptedPeer peer([&](const std::string&) { return http("200 OK", "{}"); });
  {
    Running running(config(peer.port, {{"compression", false}}));
    EXPECT_EQ(running.get("a").code, Code::ok);
  }
  const Config kubeconfig = config(peer.port);
  const std::string path = kubeconfig.string("kubeconfig");
  std::ofstream(path)
      << "current-context: x\nclusters: [{name: c, cluster: {disable-compression: true, server: '"
      << peer.url() << "'}}]\nusers: []\ncontexts: [{name: x, context: {cluster: c, user: ''}}]\n";
  {
    Running running(kubeconfig);
    EXPECT_EQ(running.get("a").code, Code::ok);
  }
  const auto requests = peer.requests();
  ASSERT_EQ(requests.size(), 2u);
  for (const auto& request : requests) EXPECT_FALSE(asked(request)) << request;
}

TEST_F(Compression, AWatchIsNotAskedForCompressed) {
  ScriptedPeer peer([&](const std::string& request) {
    if (request.find("watch=") == std::string::npos)
      return http("200 OK", gzip(R"({"metadata":{"resourceVersion":"5"},"items":[]})"), in_gzip);
    return std::string();
  });
  Running running(config(peer.port, {{"streaming_lists", false}}));
  Seen seen(running, watching(), 10);
  EXPECT_TRUE(running.host.run_until([&] { return peer.requests().size() >= 2; }, patience));
  const auto requests = peer.requests();
  EXPECT_TRUE(asked(requests[0])) << "the list";
  EXPECT_FALSE(asked(requests[1])) << requests[1];
}

}  // namespace
}  // namespace davit::cluster_kubernetes
