#include "credentials.hpp"

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
      read_(std::move(read)),
      source_(std::make_shared<const Access>(std::move(first))),
      access_(source_),
      stamps_(stamps_of(source_->files)),
      looked_at_(host.now()),
      read_at_(host.now()),
      runs_(host.counter("davit_cluster_exec_runs_total", "Runs of the kubeconfig's exec plugin")),
      runner_(rules.exec_timeout, std::move(wake)) {}

bool Credentials::turn() {
  const uint64_t before = generation_;
  const bool result = take_result();
  look_at_files();
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
    if (!std::exchange(unreadable_, true))
      host_.warn("the access to the API server cannot be read again; what was read goes on",
                 {{"error", fresh.error().message}});
    return;
  }
  if (std::exchange(unreadable_, false))
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
  if (!source_->exec) return State::ready;
  if (runner_.running()) return State::waiting;
  switch (cache_.ask(host_.now(), host_.unix_ms())) {
    case ExecCache::Say::use:
      return State::ready;
    case ExecCache::Say::fail:
      return State::failed;
    case ExecCache::Say::wait:
    case ExecCache::Say::run:
      break;
  }
  cache_.began();
  runs_.add(1);
  runner_.start(*source_->exec);
  return State::waiting;
}

bool Credentials::take_result() {
  auto result = runner_.take();
  if (!result) return false;
  if (std::exchange(stale_, false)) return true;
  if (!result->ok()) {
    cache_.failed(host_.now(), host_.random());
    if (failure_.empty())
      host_.error("the kubeconfig's exec plugin has failed", {{"error", result->error().message}});
    failure_ = result->error().message;
    return true;
  }
  if (!std::exchange(failure_, {}).empty()) host_.info("the kubeconfig's exec plugin works again");
  ExecCredential& made = **result;
  cache_.made(host_.now(), made.expires_unix_ms);
  made_.token = std::move(made.token);
  made_.certificate = std::move(made.certificate);
  made_.key = std::move(made.key);
  combine();
  return true;
}

void Credentials::accepted(uint64_t generation) {
  if (source_->exec && generation == generation_) cache_.accepted();
}

bool Credentials::refused(uint64_t generation) {
  in_doubt_ = true;
  if (generation != generation_) return true;
  return source_->exec && cache_.refused(host_.now(), host_.random());
}

}  // namespace davit::cluster_kubernetes
