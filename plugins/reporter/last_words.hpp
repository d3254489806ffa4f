// LastWords: the latest status of each key that the peer has taken, for as long as it may have to
// be said again. The peer takes a status and ignores it when another agent of the region has a
// greater epoch, and keeps what that agent says over ours. It tells us so when we say where we
// stand; its answer is about what was sent before that question. Pure.
//
// Kept in the order in which they were sent, so the oldest epochs stand first and what is
// unconfirmed stands last.
#pragma once

#include <array>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include <davit/records.hpp>

namespace davit::reporter {

class LastWords {
 public:
  // How many keys are kept, and how many more that are gone; beyond that the one that was sent
  // first is forgotten.
  LastWords(size_t capacity, size_t gone_max) : most_{capacity, gone_max} {}

  void sending(const std::vector<Status>& batch) { under_way_ = batch; }
  // False: they were not taken, and wait to be sent again.
  void ended(bool taken);
  // The peer will never take it.
  void forget(const Key& key);

  // A question begins; what is under way is not meant by it. The answer: all was heard.
  void asking() { asked_ = round_++; }
  void confirmed() { confirmed_ = asked_; }
  // What may have been ignored; none of it is unconfirmed any more. What is under way is among it:
  // it has the epoch that may not count, and what was sent of its key before is older.
  std::vector<Status> take_unconfirmed();

  // Whether some were sent with a lower epoch than this one.
  bool has_below(uint64_t epoch) const;
  // Adds such statuses to the batch, up to `most` and about `bytes_max` in all; none of a key that
  // is in it.
  void add_below(uint64_t epoch, size_t most, size_t bytes_max, std::vector<Status>& batch) const;

  size_t size() const { return by_key_.size(); }

 private:
  struct Word {
    Status status;
    uint64_t round;
  };
  using Words = std::list<Word>;

  Words& words_of(const Status& status) { return words_[status.gone ? 1 : 0]; }
  void keep(Status&& status);

  const std::array<size_t, 2> most_;
  std::array<Words, 2> words_;  // of what is there, and of what is gone; the first sent first
  std::unordered_map<std::string, Words::iterator> by_key_;
  std::vector<Status> under_way_;
  uint64_t round_ = 1, asked_ = 0, confirmed_ = 0;  // each question begins a round
};

}  // namespace davit::reporter
