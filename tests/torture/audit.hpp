// The judge. It knows every write's outcome, every reader's steps and the store, and finds what
// cannot have come about by a server that keeps its promises. Pure; the faults that it must find
// are planted in audit_test.cpp.
//
// A row keeps only its last version, so a reader may miss a write, but only one that was followed
// by another of the same name before the reader had passed it. Whether that can have been so is
// known: the later write must have been asked for before the reader heard of what lies beyond.
#pragma once

#include <set>

#include "facts.hpp"

namespace davit::torture {

class Audit {
 public:
  explicit Audit(const Journal& journal);

  // Versions are given once, and grow with time.
  void writes();
  // What a reader did, step by step, was right whenever it said "everything up to here".
  void reader(const std::string& who, const Topic& topic, const Steps& steps);
  // At rest: a reader's cluster is what is stored.
  void rest(const std::string& who, const Topic& topic, const Objects& objects,
            const Stored& stored);
  // Every answered write is there, or one that followed it; nothing else is.
  void store(const Stored& stored);

  const std::vector<Fault>& faults() const { return faults_; }
  // Writes that a reader has passed and does not have, or that are not stored: each once.
  size_t lost() const { return lost_.size(); }
  // What was written of the fault's name, and what its reader made of it.
  std::string story(const Fault& fault, const Steps& steps) const;

 private:
  struct Entry {
    const Write* write = nullptr;
    const Write* next = nullptr;  // of the same name
  };
  using Entries = std::vector<Entry>;
  using Ids = std::map<std::pair<Topic, std::string>, const Row*>;

  void fault(std::string what, const Topic& topic, std::string name = {}, std::string who = {},
             uint64_t at = UINT64_MAX);
  void judge_delivery(const std::string& who, const Topic& topic, const Step& step);
  void judge_state(const std::string& who, const Topic& topic, const Entry& passed,
                   const Objects& objects, uint64_t now);
  void judge_row(const Row& row);
  void judge_last(const Topic& topic, const Write& w, const Ids& rows, uint64_t purged);
  void judge_requests(const Stored& stored);
  const Write* find(const Topic& topic, uint64_t version) const;
  bool explains(const Topic& topic, const std::string& name, uint64_t version) const;

  const Journal& journal_;
  std::map<Topic, Entries> by_version_;
  std::vector<Fault> faults_;
  std::set<uint64_t> lost_;  // versions
};

}  // namespace davit::torture
