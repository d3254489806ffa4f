#include "service.hpp"

namespace davit::secrets_blob {

Service::Service(Host h, BlobSettings s)
    : host(h),
      settings(std::move(s)),
      addresses_(settings.calls_max, settings.calls_per_address_max),
      namespaces_(settings.calls_max, settings.calls_per_namespace_max),
      pace_(settings.reviews),
      refused_(settings.refused_for),
      reviews_(host.counter("davit_secrets_blob_reviews_total",
                            "Tokens that the API server was asked about")) {}

Result<> Service::wire() {
  auto found = cluster::Client::find(host, settings.cluster);
  if (!found.ok()) return found.error();
  cluster = *found;
  auto decrypts = secrets::Client::find(host, settings.secrets);
  if (!decrypts.ok()) return decrypts.error();
  secrets = *decrypts;
  return {};
}

Service::Place Service::place_for_address(const std::string& address) {
  return place(addresses_, address);
}

Service::Place Service::place_for_namespace(const std::string& ns) {
  return place(namespaces_, ns);
}

Service::Place Service::place(Places& places, const std::string& caller) {
  const std::lock_guard lock(mutex_);
  if (places.enter(caller) != Places::Verdict::in) return nullptr;
  // The pointer is only there to be no NULL.
  return {this, [this, &places, caller](void*) {
            const std::lock_guard leaving(mutex_);
            places.leave(caller);
          }};
}

ReviewPace::Verdict Service::may_review(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto verdict = pace_.ask(address, host.now());
  if (verdict == ReviewPace::Verdict::now) reviews_.add();
  return verdict;
}

bool Service::was_refused(const RefusedTokens::Digest& token) {
  const std::lock_guard lock(mutex_);
  return refused_.has(token, host.now());
}

void Service::refused(const RefusedTokens::Digest& token) {
  const std::lock_guard lock(mutex_);
  refused_.add(token, host.now());
}

void Service::note(const Failure& f) {
  host.counter("davit_secrets_blob_failures_total", "Calls that got no variables",
               {{"what", f.what}})
      .add();
  std::optional<uint64_t> left_out;
  {
    const std::lock_guard lock(mutex_);
    left_out = lines_.log(
        std::string(f.what) + " " + f.reason + " " + (f.ns.empty() ? f.address : f.ns), host.now());
  }
  if (!left_out) return;
  host.warn("a pod's secrets were not given", {{"what", f.what},
                                               {"reason", f.reason},
                                               {"detail", f.detail},
                                               {"peer", f.address},
                                               {"namespace", f.ns},
                                               {"pod", f.pod},
                                               {"deployment_id", f.deployment_id},
                                               {"not_logged", std::to_string(*left_out)}});
}

}  // namespace davit::secrets_blob
