// What is sent to a token server, and what its answers mean (RFC 6749, 4.4, 5.1 and 5.2; RFC 7523;
// the metadata servers of clouds). TokenMaker asks. Pure.
#pragma once

#include <davit/wiped.hpp>

#include "credential.hpp"
#include "http/client.hpp"

namespace davit::cluster_kubernetes {

// Adds "key=value" to a form (application/x-www-form-urlencoded).
void append_form(Wiped& form, std::string_view key, std::string_view value);
// The value of `Authorization: Basic`, by which a client proves itself.
Wiped basic_authorization(std::string_view client_id, std::string_view secret);

// The token of an answer: a JSON object with `access_token`, or a JWT alone. UNAVAILABLE: it is to
// be asked again later. UNAUTHENTICATED: somebody must do something. `sent` are secrets: a server's
// own words that repeat one of them are left out of the message.
Result<Credential> read_token_answer(const http::Response& answer, int64_t asked_unix_ms,
                                     const std::vector<std::string_view>& sent);

// When the next token is made: so long before this one ends, and earlier if it lives so short that
// there would be no time to use it.
int64_t renewal_unix_ms(int64_t made_unix_ms, int64_t expires_unix_ms,
                        std::chrono::seconds renew_before);

// By how much the clock of this machine differs from that of a server that sent this `Date`, as
// words for people. Empty: by less than a minute, or the header is no time.
std::string clock_difference(std::string_view date, int64_t unix_ms);

}  // namespace davit::cluster_kubernetes
