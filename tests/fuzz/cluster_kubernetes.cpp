// What comes to the agent from files and from an API server: kubeconfigs, the lines of a watch,
// pages of a list, discovery, answers.
#include "answer.hpp"
#include "choice.hpp"
#include "discovery.hpp"
#include "exec_plugin.hpp"
#include "gunzip.hpp"
#include "kubeconfig.hpp"
#include "kubernetes/json_scan.hpp"
#include "lines.hpp"
#include "require.hpp"
#include "token_answer.hpp"
#include "watch_flow.hpp"

namespace {

using namespace davit;
using namespace davit::cluster_kubernetes;

void on_kubeconfig(std::string_view text) {
  const ReadFile read = [](const std::string& path) -> Result<Secret> {
    if (path.find("missing") != std::string::npos) return Error{Code::not_found, "no such file"};
    return Secret("content");
  };
  for (const char* context : {"", "fuzz"}) {
    const auto access =
        read_kubeconfig({{"/etc/davit/kubeconfig", std::string(text)}}, context, read);
    if (!fuzz::no_bug(access, "kubeconfig").ok()) continue;
    fuzz::require(!access->url.empty() && !access->url.ends_with('/'),
                  "access has a URL without a slash at its end", access->url);
  }
}

// An exec plugin's answer, and what else it says.
void on_exec(std::string_view text) {
  ExecPlugin plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  const auto made = parse_exec_credential(text, plugin);
  if (fuzz::no_bug(made, "exec credential").ok()) {
    fuzz::require(!made->token.view().empty() || !made->certificate.empty(),
                  "a credential has a token or a certificate", text);
  }
  const std::string line = one_line(text);
  fuzz::require(line.size() <= 503 && line.find('\n') == std::string::npos,
                "what a plugin says is one short line", line);
}

// A token server's answer, in each status that it may have.
void on_token(std::string_view text) {
  for (const int status : {200, 302, 400, 401, 404, 500, 503}) {
    http::Response answer;
    answer.status = status;
    answer.body = Wiped(text);
    const auto made = read_token_answer(answer, 1'000, {"s3cret"});
    if (fuzz::no_bug(made, "token").ok()) {
      const std::string_view token = made->token.view();
      fuzz::require(!token.empty() && token.find_first_of(" \r\n") == std::string_view::npos,
                    "a token can stand in a header", token);
      fuzz::require(!made->expires_unix_ms || *made->expires_unix_ms > 1'000,
                    "a token is good for a while", text);
    } else {
      fuzz::require(made.error().message.find("s3cret") == std::string::npos,
                    "no message has what was sent", made.error().message);
    }
  }
  clock_difference(text, 0);
}

void on_gzip(std::string_view text) {
  constexpr size_t most = 10'000;
  Gunzip gunzip;
  std::string out;
  for (const std::string_view piece :
       {text.substr(0, text.size() / 2), text.substr(text.size() / 2)})
    if (gunzip.feed(piece, out, most) != Gunzip::Fed::good) break;
  fuzz::require(out.size() <= most, "the bound holds for what becomes of it");
}

std::vector<std::string> naive_lines(std::string_view text, size_t limit, size_t& dropped) {
  std::vector<std::string> out;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    if (line.size() > limit) ++dropped;
    if (!line.empty() && line.size() <= limit) out.emplace_back(line);
    text.remove_prefix(end + 1);
  }
  return out;
}

// The first byte is the size of the chunks: however a stream is cut, its lines are the same.
void on_lines(std::string_view text) {
  constexpr size_t limit = 40;
  if (text.empty()) return;
  const size_t chunk = static_cast<uint8_t>(text.front()) % 64 + 1;
  text.remove_prefix(1);
  size_t dropped = 0, expected_dropped = 0;
  std::vector<std::string> got;
  Lines lines(limit);
  for (size_t at = 0; at < text.size(); at += chunk) {
    lines.feed(
        text.substr(at, chunk), [&](std::string_view l) { got.emplace_back(l); },
        [&] { ++dropped; });
  }
  fuzz::require(got == naive_lines(text, limit, expected_dropped),
                "the lines are those of the text", text);
  fuzz::require(dropped == expected_dropped, "every line that is too long is counted", text);
}

void drain(WatchFlow& flow) {
  flow.grant(1u << 20);
  while (const auto item = flow.take()) {
    const bool says_why = item->type == DAVIT_WATCH_TROUBLE || item->type == DAVIT_WATCH_REFUSED;
    fuzz::require(says_why || item->object.empty() || item->object.front() == '{',
                  "an event's object is an object", item->object);
  }
  fuzz::require(flow.waiting_bytes() == 0, "what was taken does not wait any more");
}

void end_connection(WatchFlow& flow, int http, std::string_view body) {
  Outcome outcome;
  outcome.http = http;
  outcome.body = std::string(body);
  const auto delay = flow.ended(outcome, 7);
  fuzz::require(delay.count() >= 0 && delay < std::chrono::hours(25), "the time to wait is sane");
  fuzz::require(!flow.next(7).path.empty(), "a watch always goes on");
}

// The text once as the stream of a watch, then as the body of a list or of an error.
void on_watch(std::string_view text, bool streaming, int http) {
  WatchFlow::Options options;
  options.streaming_lists = streaming;
  options.event_bytes_max = 4096;
  WatchFlow flow({{"apps", "v1", "replicasets"}, false, "", "a=b", "", ""},
                 "/apis/apps/v1/replicasets", options);
  const auto step = flow.next(7);
  if (step.stream) {
    flow.data(text.substr(0, text.size() / 3));
    flow.data(text.substr(text.size() / 3));
  }
  drain(flow);
  end_connection(flow, http, text);
  drain(flow);
}

void on_json(std::string_view text) {
  const auto inside = [&](std::optional<std::string_view> part) {
    if (!part) return;
    fuzz::require(
        part->data() >= text.data() && part->data() + part->size() <= text.data() + text.size(),
        "what is found lies within the text");
  };
  inside(kubernetes::json_member(text, "object"));
  inside(kubernetes::json_plain_string(
      kubernetes::json_at(text, {"metadata", "annotations", "k8s.io/initial-events-end"})));
  kubernetes::json_elements(text, [&](std::string_view element) { inside(element); });
  if (const auto items = kubernetes::json_member(text, "items"))
    kubernetes::json_elements(*items, inside);
}

void on_discovery(std::string_view text) {
  Discovery discovery;
  const std::string body(text);
  const auto now = std::chrono::hours(1);
  discovery.set_preferred("apps", Discovery::preferred(body));
  fuzz::no_bug(discovery.learn("apps", "v1", body, now), "discovery");
  discovery.find("apps", "v1", "ReplicaSet", now);
  discovery.find("apps", "", "ReplicaSet", now + std::chrono::hours(1));
}

void on_answer(std::string_view text) {
  for (const int http : {0, 101, 200, 302, 404, 409, 422, 429, 500, 503}) {
    Outcome outcome;
    outcome.http = http;
    outcome.headers = {{"retry-after", std::string(text)}};
    outcome.body = std::string(text);
    const auto response = to_response(std::move(outcome));
    fuzz::require(response.code == Code::ok || !response.message.empty(), "a refusal says why");
    fuzz::require(
        response.retry_after.count() >= 0 && response.retry_after <= std::chrono::hours(24),
        "the time to wait is sane");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [entry, rest] = fuzz::choose(data, size);
  if (entry == "kubeconfig") on_kubeconfig(rest);
  if (entry == "exec") on_exec(rest);
  if (entry == "lines") on_lines(rest);
  if (entry == "watch") on_watch(rest, true, 200);
  if (entry == "list") on_watch(rest, false, 200);
  if (entry == "refused") on_watch(rest, true, 410);
  if (entry == "json") on_json(rest);
  if (entry == "discovery") on_discovery(rest);
  if (entry == "answer") on_answer(rest);
  if (entry == "token") on_token(rest);
  if (entry == "gzip") on_gzip(rest);
  return 0;
}
