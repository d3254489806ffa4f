#include "credentials.hpp"

#include <davit/rfc3339.hpp>

#include "exec_run.hpp"

namespace davit::cluster_kubernetes {
namespace {

// How often the files are looked at, and read however they look; and how soon they are read when
// the server did not answer or answered 401.
constexpr std::chrono::seconds look_at_files_every{2}, read_files_every{60}, read_files_soon{5};

std::vector<FileStamp> stamps_of(const std::vector<std::string>& files) {
  std::vector<FileStamp> out;
  for (const auto& file : files) out.push_back(stamp_of(file));
  return out;
}

}  // namespace

Credentials::Credentials(const Host& host, Access first, ReadAccess read, Rules rules,
                         std::function<void()> wake)
    : host_(host),
      rules_(std::move(rules)),
      read_(std::move(read)),
      source_(std::make_shared<const Access>(std::move(first))),
      access_(source_),
      stamps_(stamps_of(source_->files)),
      looked_at_(host.now()),
      read_at_(host.now()),
      runner_(std::move(wake)) {
  if (rules_.token == nullptr) {
    runs_ = host.counter("davit_cluster_exec_runs_total", "Runs of the kubeconfig's exec plugin");
    return;
  }
  runs_ = host.counter("davit_cluster_tokens_total", "attempts to make or renew the bearer token");
  failures_ = host.counter("davit_cluster_token_failures_total",
                           "attempts to make or renew the bearer token that failed");
  ends_ = host.gauge("davit_cluster_token_expiry_timestamp_seconds",
                     "when the present bearer token ends, in seconds since 1970");
}

bool Credentials::turn() {
  const uint64_t before = generation_;
  const bool result = take_result();
  look_at_files();
  // In good time, though no request asks: the next one would wait, and a token server that is away
  // is to be seen before the token has ended.
  if (rules_.token != nullptr) state();
  return result || generation_ != before;
}

void Credentials::look_at_files() {
  const auto now = host_.now();
  bool due = now - read_at_ >= (in_doubt_ ? read_files_soon : read_files_every);
  if (!due && now - looked_at_ >= look_at_files_every) {
    looked_at_ = now;
    due = stamps_of(source_->files) != stamps_;
  }
  if (due) read_again();
}

// Certificates live for a short time and are replaced in place, and so is a whole kubeconfig. In
// the middle of that they cannot be read: the stamps stay those of the last good files, so the next
// look reads again.
void Credentials::read_again() {
  looked_at_ = read_at_ = host_.now();
  in_doubt_ = false;
  auto stamps = stamps_of(source_->files);
  auto fresh = read_();
  if (!fresh.ok()) {
    if (std::exchange(fault_, fresh.error().message) != fresh.error().message)
      host_.warn("the access to the API server cannot be read again; what was read goes on",
                 {{"error", fault_}});
    return;
  }
  if (!std::exchange(fault_, "").empty())
    host_.info("the access to the API server can be read again");
  if (fresh->files != source_->files) stamps = stamps_of(fresh->files);
  stamps_ = std::move(stamps);
  if (fresh->same_as(*source_)) return;
  const bool other_plugin = fresh->exec != source_->exec;
  source_ = std::make_shared<const Access>(std::move(*fresh));
  if (other_plugin) {
    cache_.forget();
    stale_ = runner_.running();
    failure_.clear();
    made_ = Access();
  }
  combine();
  host_.info("the access to the API server has changed", {{"server", access_->url}});
}

void Credentials::combine() {
  Access both = source_->copy();
  if (!made_.token.view().empty()) both.token = Secret(made_.token.view());
  if (!made_.certificate.empty()) {
    both.certificate = made_.certificate;
    both.key = Secret(made_.key.view());
  }
  access_ = std::make_shared<const Access>(std::move(both));
  ++generation_;
}

Credentials::State Credentials::state() {
  if (!makes()) return State::ready;
  if (stale_) return State::waiting;
  switch (cache_.ask(host_.now(), host_.unix_ms())) {
    case CredentialCache::Say::use:
      return State::ready;
    case CredentialCache::Say::renew:
      begin();
      return State::ready;
    case CredentialCache::Say::fail:
      return State::failed;
    case CredentialCache::Say::wait:
      return State::waiting;
    case CredentialCache::Say::run:
      break;
  }
  begin();
  return State::waiting;
}

void Credentials::begin() {
  cache_.began();
  runs_.add(1);
  if (rules_.token != nullptr) {
    return runner_.start([maker = rules_.token, this] { return maker->make(runner_.operation()); });
  }
  runner_.start([plugin = *source_->exec, this] {
    return run_exec_plugin(plugin, rules_.exec_timeout, runner_.stopper());
  });
}

void Credentials::note_failure(const Error& why) {
  failures_.add(1);
  cache_.failed(host_.now(), host_.random(), why.retry_after);
  // A server that is away comes back. All else is for a person.
  const bool passes = why.code == Code::unavailable || why.code == Code::deadline_exceeded;
  const bool first = failure_.empty() || (passes_ && !passes);
  passes_ = passes;
  if (first && rules_.token == nullptr) {
    host_.error("the kubeconfig's exec plugin has failed", {{"error", why.message}});
  } else if (first && passes) {
    host_.warn("the bearer token cannot be made now", {{"error", why.message}});
  } else if (first) {
    host_.error("the bearer token cannot be made", {{"error", why.message}});
  }
  failure_ = why.message;
}

bool Credentials::take_result() {
  auto result = runner_.take();
  if (!result) return false;
  if (std::exchange(stale_, false)) return true;
  if (!result->ok()) {
    note_failure(result->error());
    return true;
  }
  if (!std::exchange(failure_, {}).empty()) {
    host_.info(rules_.token != nullptr ? "the bearer token can be made again"
                                       : "the kubeconfig's exec plugin works again");
  }
  Credential& made = **result;
  cache_.made(host_.now(), made);
  doubt_ = std::move(made.doubt);
  if (made.expires_unix_ms) ends_.set(static_cast<double>(*made.expires_unix_ms) / 1'000);
  made_.token = std::move(made.token);
  made_.certificate = std::move(made.certificate);
  made_.key = std::move(made.key);
  combine();
  return true;
}

std::string Credentials::trouble() const {
  const auto ends = cache_.expires_unix_ms();
  if (failure_.empty() || !ends || !cache_.usable(host_.now(), host_.unix_ms())) return failure_;
  return failure_ + "; requests go on with the present token, which ends at " + rfc3339(*ends);
}

void Credentials::accepted(uint64_t generation) {
  if (makes() && generation == generation_) cache_.accepted();
}

bool Credentials::refused(uint64_t generation) {
  in_doubt_ = true;
  if (generation != generation_) return true;
  return makes() && cache_.refused(host_.now(), host_.random());
}

}  // namespace davit::cluster_kubernetes
