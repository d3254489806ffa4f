#include "unreachable.hpp"

#include <boost/algorithm/string/predicate.hpp>
#include <initializer_list>

namespace davit::host {

namespace {

bool says_one_of(const std::string& why, std::initializer_list<const char*> words) {
  for (const char* w : words) {
    if (boost::algorithm::icontains(why, w)) return true;
  }
  return false;
}

}  // namespace

std::string hint_of(const std::string& url, const std::string& why) {
  // The messages of both transports and of OpenSSL.
  if (url.starts_with("https://") &&
      says_one_of(why, {"wrong_version_number", "wrong version number", "packet length too long",
                        "unexpected eof", "stream truncated", "not offer http/2"})) {
    return " (if the server does not speak TLS, its url begins with http://)";
  }
  if (url.starts_with("http://") &&
      says_one_of(why, {"socket closed", "connection reset", "stream removed", "end of file",
                        "has closed the connection", "settings frame", "goaway"})) {
    return " (if the server speaks TLS, its url begins with https://)";
  }
  return {};
}

}  // namespace davit::host
