// The client against peers that say what a server should, and what it should not.
#include "http/client.hpp"

#include <gtest/gtest.h>
#include <davit/testing/host.hpp>
#include <future>

#include "peer.hpp"

namespace davit::http {
namespace {

using namespace std::chrono_literals;
using test::Peer;

#ifdef DAVIT_SANITIZED
constexpr auto patience = 120s;
#else
constexpr auto patience = 30s;
#endif

std::string answer(const std::string& status, const std::string& body,
                   const std::string& headers = "") {
  return "HTTP/1.1 " + status + "\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class HttpClient : public ::testing::Test {
 protected:
  Result<Response> ask(const Options& options, const std::string& url, const Op& op = Op()) {
    Request request;
    request.url = url;
    return Client(host_, options).send(request, op);
  }
  static std::string told(const Result<Response>& result) {
    if (!result.ok()) {
      return std::to_string(static_cast<int>(result.error().code)) + ": " + result.error().message;
    }
    return std::to_string(result->status) + " " + std::string(result->body.view());
  }
  Operation within(std::chrono::milliseconds time) {
    return Operation((host_.now() + time).count());
  }
  testing::TestHost host_{"http"};
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(HttpClient, SendsWhatItIsGiven) {
  Peer peer(Peer::always(answer("201 Created", "body", "X-One: 1 \r\nx-two: 2\r\n")));
  Client client(host_, {.user_agent = "davit/test"});
  Request request;
  request.method = "POST";
  const std::string url = peer.url() + "/a/path";
  request.url = url;
  request.headers = {{"Authorization", "Bearer t"}, {"Content-Type", "application/proto"}};
  request.body = std::string_view("a\0b", 3);
  const auto response = client.send(request, Op());
  ASSERT_EQ(told(response), "201 body");
  EXPECT_EQ(response->header("x-one"), "1");
  EXPECT_EQ(response->header("x-two"), "2");
  EXPECT_EQ(response->header("x-three"), "");
  const std::string sent = peer.requests().at(0);
  EXPECT_TRUE(sent.starts_with("POST /a/path HTTP/1.1\r\n")) << sent;
  for (const char* line : {"Authorization: Bearer t\r\n", "Content-Type: application/proto\r\n",
                           "User-Agent: davit/test\r\n", "Content-Length: 3\r\n"})
    EXPECT_TRUE(contains(sent, line)) << sent;
  EXPECT_FALSE(contains(sent, "Expect:"));
  EXPECT_TRUE(sent.ends_with(std::string("\r\n\r\na\0b", 7)));
}

TEST_F(HttpClient, KnowsTheOtherMethods) {
  Peer peer(Peer::always(answer("200 OK", "body"), false));
  Client client(host_, {});
  const std::string url = peer.url();
  for (const char* method : {"GET", "PUT", "DELETE", "LIST"}) {
    Request request;
    request.method = method;
    request.url = url;
    EXPECT_EQ(told(client.send(request, Op())), "200 body") << method;
    EXPECT_TRUE(peer.requests().back().starts_with(method)) << peer.requests().back();
    EXPECT_FALSE(contains(peer.requests().back(), "Content-Type")) << "an empty body is no form";
  }
  EXPECT_EQ(peer.connections(), 1u) << "the connection is kept";
}

TEST_F(HttpClient, TakesNoHeaderThatWouldBeTwo) {
  Peer peer(Peer::always(answer("200 OK", "")));
  Client client(host_, {});
  const std::string url = peer.url();
  for (const char* value : {"a\r\nX-Other: b", "a\nb", "a\x7f"}) {
    Request request;
    request.url = url;
    request.headers = {{"Authorization", value}};
    const auto response = client.send(request, Op());
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.error().code, Code::invalid_argument);
    EXPECT_EQ(response.error().message,
              "the header Authorization has characters that no header may have");
  }
  EXPECT_TRUE(peer.requests().empty());
}

TEST_F(HttpClient, AnyStatusIsAnAnswerAndARedirectionIsNotFollowed) {
  Peer peer(Peer::always(answer("302 Found", "", "Location: http://127.0.0.1:1/\r\n")));
  EXPECT_EQ(told(ask({}, peer.url())), "302 ");
}

TEST_F(HttpClient, HeadersOfAPreliminaryAnswerAreNotThoseOfTheAnswer) {
  Peer peer(Peer::always("HTTP/1.1 103 Early Hints\r\nx-early: 1\r\n\r\n" + answer("200 OK", "b")));
  const auto response = ask({}, peer.url());
  ASSERT_EQ(told(response), "200 b");
  EXPECT_EQ(response->header("x-early"), "");
}

TEST_F(HttpClient, RetryAfterIsSecondsOrADateAndHasALimit) {
  for (const auto& [value, least, most] : {std::tuple{"7", 7s, 7s},
                                           {"999999999", 3'600s, 3'600s},
                                           {"-5", 0s, 0s},
                                           {"soon", 0s, 0s},
                                           {"Fri, 31 Dec 1999 23:59:59 GMT", 0s, 0s},
                                           {"Fri, 31 Dec 2199 23:59:59 GMT", 3'600s, 3'600s}}) {
    Peer peer(Peer::always(answer("503 Busy", "", std::string("Retry-After: ") + value + "\r\n")));
    const auto response = ask({}, peer.url());
    ASSERT_TRUE(response.ok());
    EXPECT_GE(response->retry_after, least) << value;
    EXPECT_LE(response->retry_after, most) << value;
    const auto later = busy(*response);
    ASSERT_TRUE(later.has_value());
    EXPECT_EQ(later->code, Code::unavailable);
    EXPECT_EQ(later->retry_after, response->retry_after);
  }
}

TEST_F(HttpClient, OnlySomeStatusesSayTryAgainLater) {
  for (const int status : {200, 301, 400, 401, 404, 500, 501}) {
    Response response;
    response.status = status;
    EXPECT_FALSE(busy(response)) << status;
  }
  for (const int status : {429, 502, 503, 504}) {
    Response response;
    response.status = status;
    EXPECT_TRUE(busy(response)) << status;
  }
}

TEST_F(HttpClient, ALongAnswerIsRefusedWhetherItSaysSoOrNot) {
  const Options options{.response_bytes_max = 1'000};
  Peer exact(Peer::always(answer("200 OK", std::string(1'000, 'x'))));
  EXPECT_TRUE(ask(options, exact.url()).ok());
  Peer said(Peer::always(answer("200 OK", std::string(1'001, 'x'))));
  Peer unsaid(Peer::always("HTTP/1.1 200 OK\r\n\r\n" + std::string(1'001, 'x')));
  Peer chunked(Peer::always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" +
                            std::string(1'024, 'x') + "\r\n0\r\n\r\n"));
  for (Peer* peer : {&said, &unsaid, &chunked}) {
    EXPECT_EQ(told(ask(options, peer->url())),
              "8: the answer has more than 1000 bytes (response_bytes_max)");
  }
}

TEST_F(HttpClient, HeadersWithoutEndAreRefused) {
  Peer peer([](Peer& self, int connection, const std::string&) {
    Peer::say(connection, "HTTP/1.1 200 OK\r\n");
    while (Peer::say(connection, "x-more: and more of it, without an end\r\n")) {
    }
    self.end(connection);
  });
  EXPECT_EQ(told(ask({}, peer.url())), "8: the answer's headers have more than 65536 bytes");
}

TEST_F(HttpClient, WhatIsNoHttpIsUnavailableAndNotShown) {
  const std::string hidden = "s3cr3t";
  for (const std::string& bytes :
       {hidden + " is all\r\n\r\n", "HTTP/1.1 " + hidden + "\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n" + hidden,
        "HTTP/1.1 200 OK\r\nContent-Length: " + hidden + "\r\n\r\n" + hidden,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + hidden + "\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: " + hidden + "\r\nContent-Length: 9\r\n\r\n" + hidden,
        std::string()}) {
    Peer peer(Peer::always(bytes));
    const auto response = ask({}, peer.url());
    if (response.ok()) continue;  // libcurl has found an answer in it
    EXPECT_EQ(response.error().code, Code::unavailable) << bytes;
    EXPECT_FALSE(contains(response.error().message, hidden)) << response.error().message;
  }
}

TEST_F(HttpClient, NobodyThereIsUnavailable) {
  std::string url;
  {
    Peer gone(Peer::always(""));
    url = gone.url();
  }
  const auto response = ask({}, url);
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, Code::unavailable);
  EXPECT_TRUE(contains(response.error().message, "failed to connect")) << told(response);
  EXPECT_TRUE(contains(told(ask({}, "http://no-such-host.invalid")), "14: could not resolve host"));
}

TEST_F(HttpClient, ADeadlineEndsARequest) {
  Peer peer([](Peer&, int, const std::string&) {});
  EXPECT_EQ(told(ask({}, peer.url(), within(100ms))), "4: the deadline has passed");
  EXPECT_EQ(told(ask({}, peer.url(), within(-1ms))), "4: the deadline has passed");
}

TEST_F(HttpClient, ATimeoutOfOursEndsARequest) {
  Peer peer([](Peer&, int connection, const std::string&) {
    Peer::say(connection, "HTTP/1.1 200 OK\r\n\r\nslow");
  });
  EXPECT_EQ(told(ask({.request_timeout = 100ms}, peer.url())),
            "14: no answer within 100 ms (request_timeout_ms)");
}

TEST_F(HttpClient, ACancelEndsARequestAtOnce) {
  std::promise<void> asked;
  Peer peer([&](Peer&, int, const std::string&) { asked.set_value(); });
  Client client(host_, {.request_timeout = patience});
  const Operation operation;
  auto answered = std::async(std::launch::async, [&] {
    const std::string url = peer.url();
    Request request;
    request.url = url;
    return told(client.send(request, operation));
  });
  asked.get_future().wait();
  const auto from = std::chrono::steady_clock::now();
  operation.cancel();
  EXPECT_EQ(answered.get(), "1: the caller has given up");
  EXPECT_LT(std::chrono::steady_clock::now() - from, patience / 2);
  EXPECT_EQ(told(ask({}, peer.url(), operation)), "1: the caller has given up");
}

TEST_F(HttpClient, ARequestThatMayBeRepeatedGoesAgainWhenAKeptConnectionIsClosed) {
  for (const char* method : {"GET", "POST"}) {
    std::atomic<int> count{0};
    Peer peer([&](Peer& self, int connection, const std::string&) {
      if (count++ == 1) return self.end(connection);
      Peer::say(connection, answer("200 OK", "body"));
    });
    Client client(host_, {});
    const std::string url = peer.url();
    Request request;
    request.method = method;
    request.url = url;
    request.body = "body";
    request.repeatable = true;
    EXPECT_EQ(told(client.send(request, Op())), "200 body");
    EXPECT_EQ(told(client.send(request, Op())), "200 body");
    EXPECT_EQ(peer.requests().size(), 3u);
  }
}

TEST_F(HttpClient, AFreshConnectionThatIsClosedIsAFailure) {
  Peer peer([](Peer& self, int connection, const std::string&) { self.end(connection); });
  Client client(host_, {});
  const std::string url = peer.url();
  Request request;
  request.url = url;
  request.repeatable = true;
  const auto response = client.send(request, Op());
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, Code::unavailable);
  EXPECT_EQ(peer.requests().size(), 1u);
}

TEST_F(HttpClient, ThreadsShareAClient) {
  Peer one(Peer::always(answer("200 OK", "body")));
  Client client(host_, {.request_timeout = patience});
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      const std::string url = one.url();
      Request request;
      request.url = url;
      for (int n = 0; n < 10; ++n) good += client.send(request, Op()).ok();
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(good, 80);
}

TEST_F(HttpClient, AProxyIsUsedOnRequestAloneAndThenForEveryHost) {
  Peer proxy(Peer::always(answer("200 OK", "of the proxy")));
  Peer server(Peer::always(answer("200 OK", "of the server")));
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy"})
    setenv(name, proxy.url().c_str(), 1);
  EXPECT_EQ(told(ask({}, server.url())), "200 of the server");
  EXPECT_EQ(told(ask({.proxy = proxy_of_environment}, server.url())), "200 of the proxy");
  setenv("no_proxy", "127.0.0.1", 1);
  EXPECT_EQ(told(ask({.proxy = proxy_of_environment}, server.url())), "200 of the server");
  EXPECT_EQ(told(ask({.proxy = proxy.url()}, server.url())), "200 of the proxy");
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}) unsetenv(name);
}

TEST_F(HttpClient, TlsFilesThatCannotBeReadAreSaid) {
  Options options;
  options.tls.ca_file = "/no/such/file";
  EXPECT_FALSE(Client(host_, options).check().ok());
  const std::string why = told(ask(options, "https://127.0.0.1:1"));
  EXPECT_TRUE(contains(why, "ca_file: ") && contains(why, "/no/such/file")) << why;
  host_.set_credential("/no/such/file", "no certificate");
  EXPECT_TRUE(contains(told(ask(options, "https://127.0.0.1:1")), "has no PEM"));
}

}  // namespace
}  // namespace davit::http
