#include "token_answer.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <ctime>

#include <davit/ascii.hpp>
#include <davit/base64.hpp>
#include <davit/rfc3339.hpp>
#include <davit/utf8.hpp>

#include "exec_plugin.hpp"
#include "jwt.hpp"
#include "kubernetes/json.hpp"
#include "percent.hpp"
#include "secret_store/wiped_json.hpp"

namespace davit::cluster_kubernetes {
namespace {

using kubernetes::text_in;

constexpr size_t words_max = 200;  // bytes of a server's own words that a message shows
// A token that has ended when it comes is used for so long all the same: a clock may be wrong, and
// the API server's is the one that counts.
constexpr int64_t doubtful_ms = 30'000;

Error no_token(std::string message) {
  return {Code::unauthenticated, std::move(message)};
}

bool may_be_sent(std::string_view token) {
  return !token.empty() &&
         std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; });
}

// A server may repeat what it was sent, and a message must not. The text that people see is looked
// at, too: within the one that came a control character may stand in the secret.
std::string words_of(std::string_view text, const std::vector<std::string_view>& sent) {
  std::string shown = one_line(text, text.size());
  for (const std::string_view looked_at : {text, std::string_view(shown)}) {
    for (const std::string_view secret : sent)
      if (!secret.empty() && looked_at.find(secret) != std::string_view::npos) return {};
    if (looked_at.find("eyJ") != std::string_view::npos) return {};  // so each JWT begins
  }
  return shortened(shown, words_max);
}

// "401 invalid_client: no such client"
std::string status_in_words(const http::Response& answer,
                            const std::vector<std::string_view>& sent) {
  std::string out = std::to_string(answer.status);
  const secret_store::WipedJson json(answer.body.view());
  if (json.object() == nullptr) return out;
  const std::string error = words_of(text_in(json.object(), "error"), sent);
  const std::string more = words_of(text_in(json.object(), "error_description"), sent);
  if (!error.empty()) out += " " + error;
  if (!more.empty()) out += ": " + more;
  return out;
}

// Some servers send the seconds as a text. 0: it is none.
int64_t lifetime_s(const boost::json::object& answer) {
  const auto* value = answer.if_contains("expires_in");
  if (value == nullptr) return 0;
  int64_t out = 0;
  if (value->is_string()) {
    const auto& text = value->get_string();
    std::from_chars(text.data(), text.data() + text.size(), out);
  } else if (value->is_number()) {
    boost::system::error_code bad;
    out = value->to_number<int64_t>(bad);
    if (bad) out = 0;
  }
  constexpr int64_t most = int64_t{10} * 365 * 86'400;
  return std::clamp<int64_t>(out, 0, most);
}

Result<Credential> read_json(std::string_view body, int64_t asked_unix_ms,
                             const std::vector<std::string_view>& sent) {
  const secret_store::WipedJson json(body);
  if (json.object() == nullptr)
    return no_token("the server answers with neither JSON nor a JWT: is `url` right?");
  const std::string_view token = text_in(json.object(), "access_token");
  if (token.empty())
    return no_token("the server answers with JSON that has no access_token: is `url` right?");
  const std::string_view type = text_in(json.object(), "token_type");
  if (!type.empty() && lower_case(type) != "bearer") {
    const std::string shown = words_of(type, sent);
    return no_token("the server gives a token of " +
                    (shown.empty() ? "another type" : "the type \"" + shown + "\"") +
                    ", and an API server takes Bearer only");
  }
  if (!may_be_sent(token))
    return no_token("the server gives a token with characters that no token has");
  Credential out;
  out.token = Secret(token);
  if (const int64_t seconds = lifetime_s(*json.object()); seconds > 0) {
    out.expires_unix_ms = asked_unix_ms + 1'000 * seconds;
  } else {
    out.expires_unix_ms = jwt_expiry_unix_ms(token);
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* white = " \t\r\n";
  const size_t from = text.find_first_not_of(white);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(white) - from + 1);
}

}  // namespace

void append_form(Wiped& form, std::string_view key, std::string_view value) {
  if (!form.empty()) form.append("&");
  append_escaped(form, key, is_unreserved);
  form.append("=");
  append_escaped(form, value, is_unreserved);
}

// RFC 6749, 2.3.1: both are escaped as in a form first.
Wiped basic_authorization(std::string_view client_id, std::string_view secret) {
  Wiped pair;
  append_escaped(pair, client_id, is_unreserved);
  pair.append(":");
  append_escaped(pair, secret, is_unreserved);
  Wiped out("Basic ");
  append_base64(out, pair.view());
  return out;
}

Result<Credential> read_token_answer(const http::Response& answer, int64_t asked_unix_ms,
                                     const std::vector<std::string_view>& sent) {
  if (auto later = http::busy(answer)) return *later;
  const int status = answer.status;
  if (status >= 500) {
    return Error{Code::unavailable,
                 "the server answers " + status_in_words(answer, sent) + ": try again later"};
  }
  if (status >= 300 && status < 400) {
    return no_token("the server answers " + std::to_string(status) +
                    ", a redirection, which is not followed: is `url` right?");
  }
  if (status == 404 || status == 405) {
    return no_token("the server answers " + std::to_string(status) + ": is `url` right?");
  }
  if (status != 200) return no_token("the server refuses: " + status_in_words(answer, sent));
  const std::string_view body = trimmed(answer.body.view());
  Credential alone;
  if (!body.starts_with('{') && is_jwt(body)) {
    alone.token = Secret(body);
    alone.expires_unix_ms = jwt_expiry_unix_ms(body);
  }
  Result<Credential> out = std::move(alone);
  if (out->token.size() == 0) out = read_json(body, asked_unix_ms, sent);
  if (!out.ok()) return out;
  if (out->expires_unix_ms && *out->expires_unix_ms <= asked_unix_ms) {
    out->doubt = "the token had ended at " + rfc3339(*out->expires_unix_ms) +
                 " when the token server gave it: is the clock of this machine right?";
    out->expires_unix_ms = asked_unix_ms + doubtful_ms;
  }
  return out;
}

int64_t renewal_unix_ms(int64_t made_unix_ms, int64_t expires_unix_ms,
                        std::chrono::seconds renew_before) {
  const int64_t lives = std::max<int64_t>(0, expires_unix_ms - made_unix_ms);
  return expires_unix_ms - std::min<int64_t>(1'000 * renew_before.count(), lives / 4);
}

std::string clock_difference(std::string_view date, int64_t unix_ms) {
  std::tm utc{};
  const std::string text(date);
  const char* end = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
  if (end == nullptr || *end != '\0') return {};
  const int64_t ahead_s = unix_ms / 1'000 - static_cast<int64_t>(timegm(&utc));
  const int64_t by = ahead_s < 0 ? -ahead_s : ahead_s;
  constexpr int64_t minute = 60, hour = 3'600, day = 86'400;
  if (by < minute) return {};
  const int64_t unit = by >= 2 * day ? day : by >= 2 * hour ? hour : minute;
  const char* name = unit == day ? " days" : unit == hour ? " hours" : " minutes";
  return "the clock of this machine is " + std::to_string(by / unit) +
         (by / unit == 1 ? " minute" : name) + (ahead_s < 0 ? " behind" : " ahead of") +
         " the server's";
}

}  // namespace davit::cluster_kubernetes
