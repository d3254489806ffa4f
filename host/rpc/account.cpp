#include "account.hpp"

#include "admission.hpp"

namespace davit::host {

Account::Account(Admission& admission, const Method& method, std::string peer, Counted counted)
    : admission_(admission), method_(method), peer_(std::move(peer)), counted_(std::move(counted)) {
  admission_.metrics().begins(&method_);
}

Account::~Account() {
  if (!ended_) ended({Code::cancelled, {}}, false);
  if (counted_.quota != nullptr) admission_.leaves(*counted_.quota, counted_.whose);
  admission_.metrics().is_gone(&method_);
}

void Account::ended(const End& end, bool by_method) {
  ended_ = true;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
  admission_.metrics().ends(&method_, end.code, took.count());
  // The server's operator must also see refusals by a method, for example of a region that the
  // token does not name. The message may contain the caller's text, so it is not part of the kind.
  const bool refused = end.code == Code::permission_denied || end.code == Code::unauthenticated;
  if (by_method && refused) {
    admission_.log_refusal({end.code, end.message}, method_.path, peer_, method_.path + " refused");
  }
}

}  // namespace davit::host
