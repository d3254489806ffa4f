// A store that several instances of one process share: all with the same `path` have the same one.
// It outlives its instances, as a database does, and ends with the process.
//
// It is copied and restored from outside, also while instances are up, as a database is by its own
// tools. Such a tool is a file ask.* beside PATH, with the line "backup NAME" or "restore NAME".
// "intent DOCUMENT" inserts an intent. The store obeys before it does anything else, so for its
// callers it was done at the moment of the file.
#pragma once

#include "../storage_naive/storage_naive.hpp"

namespace davit::storage_shared {

using storage_naive::Contents;
using storage_naive::StorageNaive;

class Shared {
 public:
  // The store of this path. `fault` counts for the first to ask.
  static std::shared_ptr<Shared> of(const std::string& path, const std::string& fault);

  // Obeys, and keeps everybody else out.
  std::unique_lock<std::recursive_mutex> enter();
  // Inside enter().
  StorageNaive& store() { return store_; }
  Contents& contents() { return store_.contents(); }
  // The instances that are up. The first one leads.
  std::vector<const void*>& members() { return members_; }
  std::map<uint64_t, std::string>& open_intents() { return open_intents_; }

 private:
  // Few, so that the suite sees a chain that is trimmed.
  static constexpr size_t links_max = 6;

  Shared(std::string path, const std::string& fault) : path_(std::move(path)), store_(fault) {}
  void obey(const std::string& word, const std::string& name);
  void restore(const Contents& copy);

  const std::string path_;
  StorageNaive store_;
  std::map<std::string, Contents> copies_;
  std::vector<const void*> members_;
  std::map<uint64_t, std::string> open_intents_;
  uint64_t intents_ = 0;  // that were inserted
};

}  // namespace davit::storage_shared
