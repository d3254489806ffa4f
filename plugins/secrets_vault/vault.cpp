#include "vault.hpp"

namespace davit::secrets_vault {
namespace {

using namespace std::chrono_literals;
using Lock = std::lock_guard<std::mutex>;

// Who gave the Vault less time than this says nothing about it by giving up.
constexpr auto patience_least = 1s;

Pairs with(Pairs labels, std::string_view instance) {
  labels.emplace_back("secrets", instance);
  return labels;
}

}  // namespace

Vault::Vault(Host host, VaultSettings settings)
    : host_(host),
      settings_(std::move(settings)),
      url_(settings_.target.url.text + "/vault.v1.VaultService/DecryptBulk"),
      client_(host, settings_.target.options),
      token_(host, settings_.token_file),
      strand_(host.strand()),
      expiry_(strand_),
      hits_(counter("davit_secrets_cache_hits_total", "Values that the cache had")),
      misses_(counter("davit_secrets_cache_misses_total", "Values that the cache did not have")),
      kept_(host.gauge("davit_secrets_cache_values", "Values in the cache",
                       with({}, host.instance()))),
      breaker_gauge_(host.gauge("davit_secrets_breaker", "0 closed, 1 half-open, 2 open",
                                with({}, host.instance()))),
      opened_total_(
          counter("davit_secrets_breaker_opened_total", "Times that the breaker has opened")),
      seconds_(host.histogram("davit_secrets_call_seconds", "Duration of calls of the secret store",
                              with({}, host.instance()))),
      breaker_(settings_.breaker),
      cache_(settings_.cache) {}

Metric Vault::counter(const char* name, const char* help, Pairs labels) const {
  return host_.counter(name, help, with(std::move(labels), host_.instance()));
}

Result<> Vault::check() const {
  if (auto token = token_.read(); !token.ok()) return token.error();
  return client_.check();
}

// --- the cache ----------------------------------------------------------------------------------

void Vault::look_up(Batch& batch) {
  const Lock lock(mutex_);
  const auto now = host_.now();
  size_t hits = 0;
  for (size_t n = 0; n < batch.wanted().size(); ++n) {
    const Secret* found = cache_.find(batch.wanted()[n].key, now);
    if (found == nullptr) continue;
    batch.known(n, Secret(found->view()));
    ++hits;
  }
  hits_.add(static_cast<double>(hits));
  misses_.add(static_cast<double>(batch.wanted().size() - hits));
}

void Vault::keep(const Batch& batch, const Batch::Part& part,
                 const std::vector<std::optional<Secret>>& values) {
  const Lock lock(mutex_);
  const auto now = host_.now();
  for (size_t n = 0; n < part.wanted.size() && n < values.size(); ++n) {
    if (values[n]) cache_.put(batch.wanted()[part.wanted[n]].key, *values[n], now);
  }
  kept_.set(static_cast<double>(cache_.entries()));
  if (cache_.entries() == 0 || std::exchange(expiry_armed_, true)) return;
  strand_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->arm_expiry();
  });
}

// What is too old is wiped though nobody asks for it. On the strand.
void Vault::arm_expiry() {
  Cache::Time next{};
  {
    const Lock lock(mutex_);
    const auto now = host_.now();
    cache_.expire(now);
    kept_.set(static_cast<double>(cache_.entries()));
    expiry_armed_ = cache_.entries() > 0;
    if (!expiry_armed_) return;
    next = cache_.next_expiry() - now;
  }
  expiry_.after(next, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->arm_expiry();
  });
}

void Vault::forget_all() {
  const Lock lock(mutex_);
  cache_.expire(Cache::Time::max());
  kept_.set(0);
}

// --- calls --------------------------------------------------------------------------------------

Vault::Permit Vault::ask() {
  const Lock lock(mutex_);
  const Permit permit = breaker_.ask(host_.now());
  show_state();
  return permit;
}

Error Vault::refusal() const {
  const Lock lock(mutex_);
  return {Code::unavailable,
          "the vault did not answer several times in a row: it is asked again soon",
          {},
          breaker_.retry_after(host_.now())};
}

Result<http::Response> Vault::post(const Secret& token, std::string_view body, const Op& op) {
  Wiped authorization("Bearer ");
  authorization.append(token.view());
  // How long we wait, so that the Vault does not work for nobody.
  const auto left =
      std::min<std::chrono::nanoseconds>(settings_.target.options.request_timeout,
                                         std::chrono::nanoseconds(op.deadline_ns()) - host_.now());
  const std::string timeout = std::to_string(
      std::max<int64_t>(1, std::chrono::floor<std::chrono::milliseconds>(left).count()));
  http::Request request;
  request.method = "POST";
  request.url = url_;
  request.headers = {{"Content-Type", "application/proto"},
                     {"Connect-Protocol-Version", "1"},
                     {"Connect-Timeout-Ms", timeout},
                     {"Authorization", authorization.view()}};
  request.body = body;
  request.repeatable = true;  // to decrypt changes nothing
  return client_.send(request, op);
}

Outcome Vault::call(const Batch& batch, const Batch::Part& part, const Op& op) {
  const auto from = host_.now();
  Outcome out = send(batch, part, op);
  const auto until = host_.now(), took = until - from;
  seconds_.observe(took);
  const bool in_vain = op.deadline_ns() <= until.count() && took >= patience_least;
  if (out.meaning == Outcome::Meaning::over && in_vain) {
    out.peer = Outcome::Peer::fails;
    out.error.message = "no answer within the time of whoever asked";
  }
  return out;
}

Outcome Vault::send(const Batch& batch, const Batch::Part& part, const Op& op) {
  const uint64_t call = host_.random();
  std::vector<std::string_view> ciphertexts;
  for (const size_t n : part.wanted) ciphertexts.push_back(batch.wanted()[n].ciphertext);
  const std::string body = encode_request(part.keyring, ciphertexts, call);
  auto token = token_.current();
  if (!token.ok()) {
    Error error = token.error().in("token_file");
    error.code = Code::unauthenticated;
    return outcome_of(error);
  }
  for (bool again = false;; again = true) {
    auto response = post(*token, body, op);
    if (!response.ok()) return outcome_of(response.error());
    Outcome out = outcome_of(*response, part.wanted.size(), call);
    if (again || out.code != Code::unauthenticated) return out;
    auto fresh = token_.current();
    if (!fresh.ok() || fresh->view() == token->view()) return out;
    token = std::move(fresh);
  }
}

// --- what is said -------------------------------------------------------------------------------

void Vault::note(Permit permit, const Outcome& outcome) {
  counter("davit_secrets_calls_total", "Calls of the secret store",
          {{"code", code_name(outcome.code)}})
      .add();
  const Lock lock(mutex_);
  switch (outcome.peer) {
    case Outcome::Peer::works:
      breaker_.succeeded(permit);
      note_answer(outcome);
      break;
    case Outcome::Peer::fails: {
      const uint64_t opened = breaker_.opened();
      breaker_.failed(permit, host_.now());
      opened_total_.add(static_cast<double>(breaker_.opened() - opened));
      note_failure(outcome);
      break;
    }
    case Outcome::Peer::unknown:
      breaker_.abandoned(permit);
      // A certificate that cannot be used, for example.
      if (outcome.meaning != Outcome::Meaning::over) note_failure(outcome);
  }
  if (outcome.strangers > 0 && !std::exchange(strangers_told_, true))
    host_.warn("the vault's answer has values that were not asked for; they are dropped");
  show_state();
}

void Vault::note_failure(const Outcome& outcome) {
  if (failures_++ == 0)
    host_.warn("the vault does not answer as it should",
               {{"vault", settings_.target.url.host}, {"reason", outcome.error.message}});
}

void Vault::note_answer(const Outcome& outcome) {
  if (outcome.meaning == Outcome::Meaning::decrypted) blame_.vault_works();
  if (failures_ > 0)
    host_.info("the vault answers again", {{"failures", std::to_string(failures_)}});
  failures_ = 0;
  const bool refused = outcome.code == Code::unauthenticated;
  if (refused == std::exchange(token_refused_, refused)) return;
  if (refused) {
    host_.error("the vault does not accept the token: put another one into token_file",
                {{"vault", settings_.target.url.host}});
  } else {
    host_.info("the vault accepts the token again");
  }
}

// With the lock held.
void Vault::show_state() {
  using State = http::Breaker::State;
  const State state = breaker_.state(host_.now());
  breaker_gauge_.set(state == State::closed ? 0 : state == State::half_open ? 1 : 2);
  if (state != State::closed) {
    host_.health(DAVIT_HEALTH_DEGRADED, "the breaker is open: the vault does not answer");
  } else if (token_refused_) {
    host_.health(DAVIT_HEALTH_DEGRADED, "the vault does not accept the token");
  } else {
    host_.health(DAVIT_HEALTH_SERVING);
  }
}

bool Vault::items_are_bad(const std::vector<ItemKey>& refused) {
  const Lock lock(mutex_);
  return blame_.items_are_bad(refused);
}

void Vault::count(const secrets::Results& results) {
  std::map<Code, size_t> codes;
  for (const auto& result : results) ++codes[result.ok() ? Code::ok : result.error().code];
  for (const auto& [code, times] : codes) {
    counter("davit_secrets_items_total", "Items that were answered", {{"code", code_name(code)}})
        .add(static_cast<double>(times));
  }
}

}  // namespace davit::secrets_vault
