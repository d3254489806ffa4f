#include "shared.hpp"

#include <filesystem>
#include <fstream>
#include <set>

namespace davit::storage_shared {

std::shared_ptr<Shared> Shared::of(const std::string& path, const std::string& fault) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Shared>> all;
  const std::lock_guard lock(mutex);
  auto& store = all[path];
  if (!store) store.reset(new Shared(path, fault));
  return store;
}

std::unique_lock<std::recursive_mutex> Shared::enter() {
  auto held = store_.hold();
  std::error_code unseen;
  std::set<std::filesystem::path> asked;
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(path_).parent_path(), unseen)) {
    if (file.path().stem() == "ask") asked.insert(file.path());
  }
  for (const auto& ask : asked) {
    std::string word, name;
    std::ifstream(ask) >> word >> name;
    std::filesystem::remove(ask);
    obey(word, name);
  }
  return held;
}

void Shared::obey(const std::string& word, const std::string& name) {
  if (word == "backup") copies_[name] = contents();
  if (word == "restore") restore(copies_.at(name));
  if (word != "intent") return;
  open_intents_[++intents_] = name;
  if (store_.fault() != "no_intent_hint") store_.tell(DAVIT_HINT_INTENTS);
}

// What the copy does not have is lost, and its versions will be given again. So another incarnation
// begins where the copy ends.
void Shared::restore(const Contents& copy) {
  const std::string& fault = store_.fault();
  Contents& now = contents();
  const Contents lost = now;
  now = copy;
  if (fault == "keeps_requests") now.requests_ = lost.requests_;
  if (fault ==
      (!members_.empty() ? "keeps_incarnation_while_up" : "keeps_incarnation_while_closed"))
    return;
  Contents::Link link{Contents::draw(), now.head_ + 1, now.status_head_ + 1};
  if (fault == "draws_the_same") link.incarnation = Incarnation(now.incarnation().value() + 2);
  if (fault == "ends_at_lost_head") link.first_version = lost.head_ + 1;
  if (fault == "ends_at_lost_status_head") link.first_status_version = lost.status_head_ + 1;
  now.chain_.push_back(link);
  if (now.chain_.size() > links_max) now.chain_.erase(now.chain_.begin());
}

}  // namespace davit::storage_shared
