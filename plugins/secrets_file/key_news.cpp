#include "key_news.hpp"

#include <algorithm>

namespace davit::secrets_file {
namespace {

// Callers choose the names of keyrings, so there may be as many files that cannot be read as they
// like. What is new about more than so many is not said.
constexpr size_t files_max = 1000;

}  // namespace

void KeyNews::good(const std::string& file, const Keys& keys) {
  std::string what;
  for (const KeyPair& pair : keys) what.append(pair.open().bytes.begin(), pair.open().bytes.end());
  const std::lock_guard lock(mutex_);
  const auto before = last_.find(file);
  if (before != last_.end() && before->second.good && before->second.what == what) return;
  if (before == last_.end() && last_.size() >= files_max) return;
  const bool was_bad = before != last_.end() && !before->second.good;
  host_.info(before == last_.end() ? "keys read"
             : was_bad             ? "keys can be read again"
                                   : "keys have changed",
             {{"file", file},
              {"keys", std::to_string(keys.size())},
              {"newest", keys.back().open().text()}});
  last_[file] = {true, what};
  say_health();
}

void KeyNews::bad(const std::string& file, const std::string& why) {
  const std::lock_guard lock(mutex_);
  const auto before = last_.find(file);
  if (before != last_.end() && !before->second.good && before->second.what == why) return;
  if (before == last_.end() && last_.size() >= files_max) return;
  host_.warn("keys cannot be read", {{"file", file}, {"reason", why}});
  last_[file] = {false, why};
  say_health();
}

void KeyNews::absent(const std::string& file) {
  const std::lock_guard lock(mutex_);
  const auto before = last_.find(file);
  if (before == last_.end()) return;
  host_.info("keys are gone", {{"file", file}});
  last_.erase(before);
  say_health();
}

void KeyNews::say_health() const {
  const auto bad = std::find_if(last_.begin(), last_.end(),
                                [](const auto& entry) { return !entry.second.good; });
  if (bad == last_.end()) {
    host_.health(DAVIT_HEALTH_SERVING);
  } else {
    host_.health(DAVIT_HEALTH_DEGRADED, bad->first + ": " + bad->second.what);
  }
}

}  // namespace davit::secrets_file
