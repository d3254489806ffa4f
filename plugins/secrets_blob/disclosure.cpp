#include "disclosure.hpp"

#include <davit/utf8.hpp>

#include "token_review.hpp"

namespace davit::secrets_blob {
namespace {

// "10.1.2.3" of "ipv4:10.1.2.3:4567". Each address of a pod counts for itself.
std::string without_port(const std::string& peer) {
  const bool has_port = peer.starts_with("ipv4:") || peer.starts_with("ipv6:");
  return has_port ? peer.substr(0, peer.rfind(':')) : peer;
}

// What is wrong with the API server's answer. Its own texts are left out: one of a webhook may have
// the token in it.
std::string outcome_of(const cluster::Response& r) {
  if (r.http_status == 0) return shortened(r.message, 200);
  return "HTTP " + std::to_string(r.http_status) + " " + r.reason;
}

}  // namespace

// All refusals have one text: whoever tries tokens learns nothing of why.
const Disclosure::Outcome Disclosure::refused_{"refused", Code::unauthenticated,
                                               "the token is not that of a pod of this deployment"};
const Disclosure::Outcome Disclosure::busy_{"busy", Code::resource_exhausted,
                                            "too many requests: try again later"};
const Disclosure::Outcome Disclosure::away_{"unavailable", Code::unavailable,
                                            "the token cannot be verified now: try again later"};
const Disclosure::Outcome Disclosure::unreadable_{"failed", Code::internal,
                                                  "the secrets blob cannot be read"};
const Disclosure::Outcome Disclosure::undecryptable_{"failed", Code::internal,
                                                     "the secrets cannot be decrypted"};
const Disclosure::Outcome Disclosure::cannot_decrypt_now_{
    "unavailable", Code::unavailable, "the secrets cannot be decrypted now: try again later"};

Disclosure::Disclosure(Service& service, rpc::Call call, Strand strand)
    : service_(service),
      call_(std::move(call)),
      strand_(std::move(strand)),
      address_(without_port(call_.peer())),
      deadline_ns_(
          std::min(call_.deadline_ns(), (service.host.now() + service.settings.timeout).count())),
      op_(call_.operation(), deadline_ns_) {}

void Disclosure::finish(rpc::End end) {
  if (!std::exchange(open_, false)) return;
  call_.finish(std::move(end));
  work_.reset();
}

void Disclosure::gone() {
  open_ = false;
  work_.reset();
}

void Disclosure::fail(const Outcome& outcome, std::string reason, std::string detail) {
  if (!open_) return;
  service_.note({outcome.what, std::move(reason), std::move(detail), address_, who_.ns, who_.pod,
                 request_.claim.deployment_id});
  finish({outcome.code, outcome.said});
}

void Disclosure::begin(Buffer message) {
  if (!open_) return;
  work_ = std::make_shared<Work>();
  work_->ticket = service_.open.begin();
  work_->place = service_.place_for_address(address_);
  if (!work_->place) return fail(busy_, "more calls are open than may be");
  auto request = read_request(message.view(), service_.settings);
  if (!request.ok() && request.error().code == Code::unauthenticated)
    return fail(refused_, request.error().message);
  if (!request.ok()) {
    service_.note(
        {"refused", "the request is not one", request.error().message, address_, {}, {}, {}});
    return finish(rpc::End::of(request.error()));
  }
  request_ = std::move(*request);
  review();
}

void Disclosure::review() {
  const std::string_view token = request_.token.view();
  if (service_.was_refused(RefusedTokens::digest_of(token)))
    return fail(refused_, "the token was refused a short time ago");
  switch (service_.may_review(address_)) {
    case ReviewPace::Verdict::too_many:
      return fail(busy_, "more tokens come than may be asked about (reviews_per_second)");
    case ReviewPace::Verdict::too_many_of_address:
      return fail(busy_,
                  "more tokens come of one address than may be asked about "
                  "(reviews_per_second_per_address)");
    case ReviewPace::Verdict::now:
      break;
  }
  const Wiped body = review_body(token, service_.settings.audiences);
  ask_the_cluster(review_request(), body.view(), &Disclosure::reviewed);
}

void Disclosure::ask_the_cluster(const cluster::Request& q, std::string_view body,
                                 void (Disclosure::*then)(cluster::Response)) {
  cluster::Request request = q;
  request.deadline_ns = deadline_ns_;
  service_.cluster.under(call_.operation())
      .request(request, body, [self = shared_from_this(), work = work_, then](cluster::Response r) {
        const auto answer = std::make_shared<cluster::Response>(std::move(r));
        self->strand_.post([self, work, then, answer] {
          if (self->open_) ((*self).*then)(std::move(*answer));
        });
      });
}

void Disclosure::reviewed(cluster::Response answer) {
  if (answer.code != Code::ok)
    return fail(away_, "the API server does not answer a TokenReview", outcome_of(answer));
  auto who = read_review(answer.body, service_.settings.audiences);
  explicit_bzero(answer.body.data(), answer.body.size());  // it repeats the token
  if (!who.ok() && who.error().code == Code::unauthenticated) {
    service_.refused(RefusedTokens::digest_of(request_.token.view()));
    return fail(refused_, who.error().message);
  }
  if (!who.ok())
    return fail(away_, "the API server does not answer a TokenReview", who.error().message);
  request_.token.clear();
  who_ = std::move(*who);
  work_->place_in_namespace = service_.place_for_namespace(who_.ns);
  if (!work_->place_in_namespace)
    return fail(busy_,
                "more calls of the namespace are open than may be (calls_per_namespace_max)");
  ask_the_cluster(pod_request(who_), {}, &Disclosure::looked);
}

void Disclosure::looked(cluster::Response answer) {
  if (answer.code == Code::not_found) return fail(refused_, "there is no such pod");
  if (answer.code != Code::ok)
    return fail(away_, "the API server does not show the pod", outcome_of(answer));
  const auto theirs = check_pod(answer.body, who_, request_.claim, service_.settings.label_prefix,
                                service_.host.unix_ms());
  if (!theirs.ok() && theirs.error().code == Code::unauthenticated)
    return fail(refused_, theirs.error().message);
  if (!theirs.ok())
    return fail(away_, "the API server does not show the pod", theirs.error().message);
  decrypt();
}

void Disclosure::decrypt() {
  auto variables = read_blob(request_.blob, service_.settings.variables_max);
  if (!variables.ok()) {
    const Error& e = variables.error();
    return fail(unreadable_, "the blob is no SecretsConfig",
                shortened(e.where.empty() ? e.message : e.where + ": " + e.message, 200));
  }
  variables_ = std::move(*variables);
  std::vector<secrets::Item> items;
  for (const Variable& v : variables_) {
    secrets::Item item;
    item.keyring = request_.claim.environment_id;
    item.ciphertext = v.ciphertext;
    items.push_back(std::move(item));
  }
  service_.secrets.resolve(
      items,
      [self = shared_from_this(), work = work_](secrets::Results r) {
        const auto results = std::make_shared<const secrets::Results>(std::move(r));
        self->strand_.post([self, work, results] {
          if (self->open_) self->decrypted(*results);
        });
      },
      Op(op_.abi()));
}

// What can never be decrypted is said before what may be later.
void Disclosure::decrypted(const secrets::Results& results) {
  std::optional<size_t> failed;
  for (size_t n = 0; n < results.size(); ++n) {
    if (results[n].ok()) {
      if (valid_utf8(results[n]->secret.view())) continue;
      return fail(undecryptable_, "a variable is no text", shortened(variables_[n].name, 100));
    }
    const bool final = !retryable(results[n].error().code);
    if (!failed || final) failed = n;
    if (final) break;
  }
  if (failed) {
    const Error& e = results[*failed].error();
    const std::string detail = shortened(variables_[*failed].name, 100) + ": " +
                               (e.where.empty() ? "" : e.where + ": ") + e.message;
    return fail(retryable(e.code) ? cannot_decrypt_now_ : undecryptable_,
                "a variable cannot be decrypted", detail);
  }
  call_.write(encode_answer(variables_, results));
  finish({});
}

}  // namespace davit::secrets_blob
