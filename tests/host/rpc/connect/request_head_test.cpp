// What a head asks for, and what it is told when that cannot be.
#include "rpc/connect/request_head.hpp"

#include <gtest/gtest.h>

#include "rpc/connect/end_json.hpp"
#include "rpc/connect/envelope.hpp"
#include "rpc/connect/timeout.hpp"

namespace davit::host {
namespace {

using namespace std::chrono_literals;

Method method(uint32_t streaming) {
  Method m;
  m.path = "t.v1.S/M";
  m.streaming = streaming;
  return m;
}
const Method unary = method(0);
const Method watch = method(DAVIT_RPC_SERVER_STREAMS);
const Method upload = method(DAVIT_RPC_CLIENT_STREAMS);
const Method both = method(DAVIT_RPC_SERVER_STREAMS | DAVIT_RPC_CLIENT_STREAMS);

RequestHead post(Pairs headers, int http_major = 2) {
  return {"POST", "/t.v1.S/M", std::move(headers), http_major};
}
RequestHead typed(const std::string& type, Pairs more = {}, int http_major = 2) {
  more.insert(more.begin(), {"content-type", type});
  return post(std::move(more), http_major);
}

// The terms, which must be given.
Terms terms(const RequestHead& head, const Method* m = nullptr) {
  auto read = read_terms(head, m);
  if (const auto* answer = std::get_if<HttpAnswer>(&read)) {
    ADD_FAILURE() << answer->status << " " << answer->body;
    return {};
  }
  return std::get<Terms>(std::move(read));
}
// The answer that refuses, which must come.
HttpAnswer refused(const RequestHead& head, const Method* m = nullptr) {
  auto read = read_terms(head, m);
  if (std::holds_alternative<Terms>(read)) {
    ADD_FAILURE() << "is taken";
    return {};
  }
  return std::get<HttpAnswer>(std::move(read));
}

// How a call of the type ends, as its caller reads it: "3|message".
std::string end_of(const HttpAnswer& answer, const std::string& type) {
  End end;
  if (type.starts_with("application/grpc")) {
    EXPECT_EQ(answer.status, 200);
    end = read_grpc_trailers(answer.headers);
  } else if (type.starts_with("application/connect")) {
    EXPECT_EQ(answer.status, 200);
    end = read_end_of_stream(std::string_view(answer.body).substr(5)).value();
  } else {
    end = read_error_json(answer.status, answer.body);
  }
  return std::to_string(static_cast<int>(end.code)) + "|" + end.message;
}

std::string header(const HttpAnswer& answer, const std::string& key) {
  return RequestHead{{}, {}, answer.headers}.header(key).value_or("(none)");
}

TEST(RequestHead, AHeaderThatIsThereTwiceIsOneList) {
  const RequestHead head = post({{"a", "1"}, {"b", "2"}, {"a", ""}, {"a", "3"}});
  EXPECT_EQ(head.header("a"), "1, , 3");
  EXPECT_EQ(head.header("b"), "2");
  EXPECT_EQ(head.header("c"), std::nullopt);
  EXPECT_EQ(head.header("A"), std::nullopt);
  EXPECT_EQ(post({{"a", ""}}).header("a"), "");
}

TEST(ReadTerms, OnlyPostIsTaken) {
  for (const char* verb : {"GET", "PUT", "OPTIONS", "HEAD", "post", "POST ", "", "PRI"}) {
    RequestHead head = typed("application/proto");
    head.verb = verb;
    const HttpAnswer answer = refused(head, &unary);
    EXPECT_EQ(answer.status, 405) << verb;
    EXPECT_EQ(answer.headers, (Pairs{{"allow", "POST"}})) << verb;
  }
}

struct TypeRow {
  const char* type;
  Wire wire;
  Form form;
};
constexpr TypeRow types[] = {
    {"application/proto", Wire::connect_unary, Form::proto},
    {"application/json", Wire::connect_unary, Form::json},
    {"application/connect+proto", Wire::connect_stream, Form::proto},
    {"application/connect+json", Wire::connect_stream, Form::json},
    {"application/grpc", Wire::grpc, Form::proto},
    {"application/grpc+proto", Wire::grpc, Form::proto},
    {"application/grpc+json", Wire::grpc, Form::json},
    {"application/grpc-web", Wire::grpc_web, Form::proto},
    {"application/grpc-web+proto", Wire::grpc_web, Form::proto},
    {"application/grpc-web+json", Wire::grpc_web, Form::json},
};

TEST(ReadTerms, TheContentTypeSaysProtocolAndForm) {
  for (const TypeRow& row : types) {
    const std::string type = row.type;
    std::string upper = type;
    for (char& c : upper) c = static_cast<char>(std::toupper(c));
    for (const std::string& written : {type, upper, type + "; charset=utf-8", type + ";",
                                       type + " ;charset=\"a,b\"; x", " " + type + "\t"}) {
      const Terms t = terms(typed(written));
      EXPECT_EQ(t.wire, row.wire) << written;
      EXPECT_EQ(t.form, row.form) << written;
      EXPECT_EQ(t.content_type, type) << written;
      EXPECT_FALSE(t.compressed || t.accepts_gzip || t.timeout) << written;
    }
  }
}

TEST(ReadTerms, AMethodTakesTheTypesOfItsKindAndOfGrpc) {
  for (const TypeRow& row : types) {
    const RequestHead head = typed(row.type);
    const auto taken = [&](const Method* m) {
      return std::holds_alternative<Terms>(read_terms(head, m));
    };
    EXPECT_EQ(taken(&unary), row.wire != Wire::connect_stream) << row.type;
    for (const Method* streams : {&watch, &upload, &both})
      EXPECT_EQ(taken(streams), row.wire != Wire::connect_unary) << row.type;
    EXPECT_TRUE(taken(nullptr)) << row.type;
  }
}

TEST(ReadTerms, OtherTypesAre415WithThoseThatAreTaken) {
  const std::string grpc =
      "application/grpc, application/grpc+proto, application/grpc+json, application/grpc-web, "
      "application/grpc-web+proto, application/grpc-web+json";
  const std::string of_unary = "application/proto, application/json, " + grpc;
  const std::string of_stream = "application/connect+proto, application/connect+json, " + grpc;
  for (const char* type :
       {"", "application", "application/", "text/plain", "application/protobuf",
        "application/x-protobuf", "application/connect", "application/connect+xml",
        "application/grpc+thrift", "application/grpcx", "application/grpc-web-text",
        "application/grpc-web-text+proto", "application/proto, application/proto",
        "application/proto+json", "application/ proto", "; application/proto",
        "charset=utf-8; application/proto", "application/json\r\n"}) {
    const HttpAnswer answer = refused(typed(type), &unary);
    EXPECT_EQ(answer.status, 415) << type;
    EXPECT_EQ(answer.headers, (Pairs{{"accept-post", of_unary}})) << type;
    EXPECT_EQ(answer.body, "") << type;
  }
  EXPECT_EQ(header(refused(typed("application/proto"), &watch), "accept-post"), of_stream);
  EXPECT_EQ(header(refused(typed("application/connect+proto"), &unary), "accept-post"), of_unary);
  EXPECT_EQ(header(refused(typed("text/plain")), "accept-post"),
            "application/proto, application/json, " + of_stream);
  EXPECT_EQ(refused(post({}), &unary).status, 415);
}

TEST(ReadTerms, AContentTypeThatIsThereTwiceIsNone) {
  for (const char* second : {"application/proto", "application/json", ""}) {
    for (const char* first : {"application/proto", "application/proto; charset=utf-8"}) {
      const auto answer = refused(typed(first, {{"content-type", second}}), &unary);
      EXPECT_EQ(answer.status, 415) << first << ", " << second;
    }
  }
}

TEST(ReadTerms, GrpcNeedsHttp2) {
  for (const char* type : {"application/grpc", "application/grpc+json"})
    EXPECT_EQ(refused(typed(type, {}, 1), &unary).status, 505) << type;
  for (const char* type : {"application/proto", "application/grpc-web+proto"})
    EXPECT_EQ(terms(typed(type, {}, 1), &unary).content_type, type);
  terms(typed("application/connect+proto", {}, 1), &watch);
  terms(typed("application/grpc", {}, 3), &watch);
}

TEST(ReadTerms, TheFirstThatIsWrongIsWhatIsSaid) {
  const Pairs all_wrong = {
      {"connect-protocol-version", "2"}, {"connect-timeout-ms", "x"}, {"content-encoding", "br"}};
  RequestHead head = typed("text/plain", all_wrong, 1);
  head.verb = "GET";
  EXPECT_EQ(refused(head, &unary).status, 405);
  head.verb = "POST";
  EXPECT_EQ(refused(head, &unary).status, 415);
  const std::string type = "application/proto";
  EXPECT_EQ(end_of(refused(typed(type, all_wrong)), type),
            "3|connect-protocol-version \"2\" is not 1");
  EXPECT_EQ(end_of(refused(typed(type, {all_wrong[1], all_wrong[2]})), type),
            "3|connect-timeout-ms \"x\" is not a number of at most ten digits");
  EXPECT_EQ(end_of(refused(typed(type, {all_wrong[2]})), type),
            "12|content-encoding \"br\" is not supported here; gzip and identity are");
  EXPECT_EQ(refused(typed("application/grpc", {{"grpc-timeout", "x"}}, 1)).status, 505);
}

TEST(ReadTerms, TheVersionOfConnectIsOneOrAbsent) {
  for (const std::string type : {"application/json", "application/connect+json"}) {
    terms(typed(type, {{"connect-protocol-version", "1"}}));
    for (const char* version : {"", "0", "2", "01", "1.0", " 1", "1, 1", "v1"}) {
      const auto answer = refused(typed(type, {{"connect-protocol-version", version}}));
      EXPECT_TRUE(end_of(answer, type).starts_with("3|connect-protocol-version ")) << version;
    }
    refused(typed(type, {{"connect-protocol-version", "1"}, {"connect-protocol-version", "1"}}));
  }
  terms(typed("application/grpc", {{"connect-protocol-version", "2"}}));
}

TEST(ReadTerms, EachProtocolHasItsOwnTimeout) {
  struct {
    const char *type, *value;
    std::chrono::milliseconds timeout;
  } const table[] = {
      {"application/proto", "5000", 5s},
      {"application/connect+json", "9999999999", 9'999'999'999ms},
      {"application/grpc", "1S", 1s},
      {"application/grpc-web", "100m", 100ms},
      {"application/grpc", "99999999H", timeout_max},
  };
  for (const auto& [type, value, timeout] : table) {
    const bool grpc = std::string(type).starts_with("application/grpc");
    const char* name = grpc ? "grpc-timeout" : "connect-timeout-ms";
    const char* other = grpc ? "connect-timeout-ms" : "grpc-timeout";
    EXPECT_EQ(terms(typed(type, {{name, value}, {other, "x"}})).timeout, timeout) << type;
  }
}

TEST(ReadTerms, ATimeoutThatIsNoneIsRefused) {
  for (const std::string type : {"application/proto", "application/connect+proto"}) {
    for (const std::string bad : {"", "-1", "1S", "10000000000", "5, 5"}) {
      EXPECT_EQ(end_of(refused(typed(type, {{"connect-timeout-ms", bad}})), type),
                "3|connect-timeout-ms \"" + bad + "\" is not a number of at most ten digits");
    }
    refused(typed(type, {{"connect-timeout-ms", "5"}, {"connect-timeout-ms", "5"}}));
  }
  for (const std::string type : {"application/grpc", "application/grpc-web+json"}) {
    for (const std::string bad : {"", "1", "S", "-1S", "1s", "123456789S"}) {
      EXPECT_EQ(
          end_of(refused(typed(type, {{"grpc-timeout", bad}})), type),
          "3|grpc-timeout \"" + bad + "\" is not at most eight digits and one of H M S m u n");
    }
    refused(typed(type, {{"grpc-timeout", "1S"}, {"grpc-timeout", "1S"}}));
  }
}

TEST(ReadTerms, WhatACallerSentIsNotSaidAtLength) {
  const std::string type = "application/proto";
  const auto answer = refused(typed(type, {{"connect-timeout-ms", std::string(8'000, '9')}}));
  EXPECT_LT(answer.body.size(), 300u);
}

constexpr std::pair<const char*, const char*> encodings[] = {
    {"application/proto", "content-encoding"},
    {"application/connect+proto", "connect-content-encoding"},
    {"application/grpc", "grpc-encoding"},
    {"application/grpc-web", "grpc-encoding"},
};
constexpr std::pair<const char*, const char*> accepted[] = {
    {"application/proto", "accept-encoding"},
    {"application/connect+proto", "connect-accept-encoding"},
    {"application/grpc", "grpc-accept-encoding"},
    {"application/grpc-web", "grpc-accept-encoding"},
};

TEST(ReadTerms, TakesGzipAndIdentityOnly) {
  for (const auto& [type, name] : encodings) {
    for (const char* plain : {"", "identity", "Identity"})
      EXPECT_FALSE(terms(typed(type, {{name, plain}})).compressed) << type << plain;
    for (const char* packed : {"gzip", "GZIP", " gzip "})
      EXPECT_TRUE(terms(typed(type, {{name, packed}})).compressed) << type << packed;
    for (const std::string bad : {"br", "deflate", "zstd", "x-gzip", "gzip, gzip", "gzip;q=1", "*",
                                  "gzi", "identity, gzip", "gzip\n"}) {
      const auto answer = refused(typed(type, {{name, bad}}));
      EXPECT_EQ(end_of(answer, type), "12|" + std::string(name) + " \"" + bad +
                                          "\" is not supported here; gzip and identity are");
    }
    refused(typed(type, {{name, "gzip"}, {name, "gzip"}}));
  }
}

TEST(ReadTerms, SaysWhichEncodingsAreTakenInTheHeaderOfTheProtocol) {
  for (size_t i = 0; i < std::size(encodings); ++i) {
    const auto answer = refused(typed(encodings[i].first, {{encodings[i].second, "br"}}));
    EXPECT_EQ(header(answer, accepted[i].second), "gzip, identity") << encodings[i].first;
    const auto other =
        refused(typed(encodings[i].first, {{"connect-timeout-ms", "x"}, {"grpc-timeout", "x"}}));
    EXPECT_EQ(header(other, accepted[i].second), "(none)") << encodings[i].first;
  }
}

TEST(ReadTerms, AnswersGzipToThoseThatTakeIt) {
  const std::pair<const char*, bool> table[] = {
      {"gzip", true},
      {"GZip", true},
      {"identity,deflate,gzip", true},
      {"br, gzip;q=0.5 , zstd", true},
      {"gzip ; q=1.000", true},
      {"*", true},
      {"*;q=0, gzip", true},
      {"gzip, *;q=0", true},
      {",,gzip,", true},
      {"gzip;q=0.001", true},
      {"gzip;q=", true},  // malformed: the coding stands
      {"", false},
      {" ", false},
      {"identity", false},
      {"br", false},
      {"xgzip", false},
      {"gzipx", false},
      {"gzip;q=0", false},
      {"gzip; Q=0.000", false},
      {"*, gzip;q=0", false},
      {"*;q=0", false},
      {"identity;gzip", false},
  };
  for (const auto& [type, name] : accepted) {
    for (const auto& [value, takes] : table)
      EXPECT_EQ(terms(typed(type, {{name, value}})).accepts_gzip, takes) << type << ": " << value;
    EXPECT_TRUE(terms(typed(type, {{name, "br"}, {name, "gzip"}})).accepts_gzip) << type;
  }
}

TEST(ReadTerms, WhoDoesNotSayTakesWhatItSends) {
  for (size_t i = 0; i < std::size(encodings); ++i) {
    const auto& [type, name] = encodings[i];
    EXPECT_TRUE(terms(typed(type, {{name, "gzip"}})).accepts_gzip) << type;
    EXPECT_FALSE(terms(typed(type, {{name, "identity"}})).accepts_gzip) << type;
    EXPECT_FALSE(terms(typed(type, {{name, "gzip"}, {accepted[i].second, "br"}})).accepts_gzip)
        << type;
  }
}

TEST(ReadTerms, HeadersOfAnotherProtocolSayNothing) {
  const Pairs foreign = {{"content-encoding", "br"}, {"accept-encoding", "gzip"}};
  for (const char* type : {"application/grpc", "application/connect+proto"}) {
    const Terms t = terms(typed(type, foreign));
    EXPECT_FALSE(t.compressed || t.accepts_gzip) << type;
  }
  const Terms t = terms(typed("application/json", {{"grpc-encoding", "br"},
                                                   {"connect-content-encoding", "gzip"},
                                                   {"grpc-accept-encoding", "gzip"}}));
  EXPECT_FALSE(t.compressed || t.accepts_gzip);
}

}  // namespace
}  // namespace davit::host
