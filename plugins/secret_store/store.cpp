#include "store.hpp"

#include "code_names.hpp"

namespace davit::secret_store {
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

Store::Store(Host host, StoreSettings settings, std::unique_ptr<Protocol> protocol)
    : host_(host),
      settings_(std::move(settings)),
      protocol_(std::move(protocol)),
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

Metric Store::counter(const char* name, const char* help, Pairs labels) const {
  return host_.counter(name, help, with(std::move(labels), host_.instance()));
}

// --- the cache ----------------------------------------------------------------------------------

void Store::look_up(Batch& batch) {
  const Lock lock(mutex_);
  const auto now = host_.now();
  size_t hits = 0;
  for (size_t n = 0; n < batch.wanted().size(); ++n) {
    const Cache::Kept* found = cache_.find(batch.wanted()[n].key, now);
    if (found == nullptr) continue;
    batch.known(n, Secret(found->value.view()), found->version);
    ++hits;
  }
  hits_.add(static_cast<double>(hits));
  misses_.add(static_cast<double>(batch.wanted().size() - hits));
}

void Store::keep(const Batch& batch, const Batch::Part& part, const Outcome& outcome) {
  const auto& values = outcome.values;
  const Lock lock(mutex_);
  const auto now = host_.now();
  for (size_t n = 0; n < part.wanted.size() && n < values.size(); ++n) {
    if (!values[n]) continue;
    cache_.put(batch.wanted()[part.wanted[n]].key, *values[n], now, outcome.version);
  }
  kept_.set(static_cast<double>(cache_.entries()));
  if (cache_.entries() == 0 || std::exchange(expiry_armed_, true)) return;
  strand_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->arm_expiry();
  });
}

// What is too old is wiped though nobody asks for it. On the strand.
void Store::arm_expiry() {
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

void Store::forget_all() {
  const Lock lock(mutex_);
  cache_.expire(Cache::Time::max());
  kept_.set(0);
}

// --- calls --------------------------------------------------------------------------------------

Store::Permit Store::ask() {
  const Lock lock(mutex_);
  const Permit permit = breaker_.ask(host_.now());
  show_state();
  return permit;
}

Error Store::refusal() const {
  const Lock lock(mutex_);
  return {
      Code::unavailable,
      "the vault did not answer several times in a row: it is asked again soon. The last time: " +
          last_failure_,
      {},
      breaker_.retry_after(host_.now())};
}

Outcome Store::call(const Batch& batch, const Batch::Part& part, const Op& op) {
  const auto from = host_.now();
  Outcome out = protocol_->call(batch, part, op);
  const auto until = host_.now(), took = until - from;
  seconds_.observe(took);
  const bool in_vain = op.deadline_ns() <= until.count() && took >= patience_least;
  if (out.meaning == Outcome::Meaning::over && in_vain) {
    out.peer = Outcome::Peer::fails;
    out.error.message = "no answer within the time of whoever asked";
  }
  return out;
}

// --- what is said -------------------------------------------------------------------------------

void Store::note(Permit permit, const Outcome& outcome) {
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

void Store::note_failure(const Outcome& outcome) {
  last_failure_ = outcome.error.message;
  if (failures_++ == 0)
    host_.warn("the vault does not answer as it should",
               {{"vault", settings_.target.url.host}, {"reason", outcome.error.message}});
}

void Store::note_answer(const Outcome& outcome) {
  if (outcome.meaning == Outcome::Meaning::decrypted) blame_.vault_works();
  if (failures_ > 0)
    host_.info("the vault answers again", {{"failures", std::to_string(failures_)}});
  failures_ = 0;
  const bool refused = outcome.code == Code::unauthenticated;
  if (refused == std::exchange(token_refused_, refused)) return;
  if (refused) {
    host_.error("the vault does not accept the token: " + protocol_->advice(),
                {{"vault", settings_.target.url.host}});
  } else {
    host_.info("the vault accepts the token again");
  }
}

// With the lock held.
void Store::show_state() {
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

bool Store::items_are_bad(const std::vector<ItemKey>& refused) {
  const Lock lock(mutex_);
  return blame_.items_are_bad(refused);
}

void Store::count(const secrets::Results& results) {
  std::map<Code, size_t> codes;
  for (const auto& result : results) ++codes[result.ok() ? Code::ok : result.error().code];
  for (const auto& [code, times] : codes) {
    counter("davit_secrets_items_total", "Items that were answered", {{"code", code_name(code)}})
        .add(static_cast<double>(times));
  }
}

}  // namespace davit::secret_store
