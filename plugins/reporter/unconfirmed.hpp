// Statuses that the peer has taken, but may have ignored: another agent of the region may have
// come meanwhile with a greater epoch. The peer says so when it is told where this agent stands;
// its word holds for what was sent before that question. What is unconfirmed then is sent again,
// with a greater epoch. Pure.
#pragma once

#include "buffer.hpp"

namespace davit::reporter {

class Unconfirmed {
 public:
  // As many as may wait; beyond that the oldest is believed.
  explicit Unconfirmed(size_t capacity) : asked_(capacity), sent_(capacity) {}

  void sending(const std::vector<Status>& batch) { under_way_ = batch; }
  // False: they were not taken, and wait to be sent again.
  void ended(bool taken) {
    if (taken) move(under_way_, sent_);
    under_way_.clear();
  }
  // The question begins; what is under way is not meant by it.
  void asking() {
    std::vector<Status> sent = sent_.take(SIZE_MAX, SIZE_MAX);
    move(sent, asked_);
  }
  void confirmed() { static_cast<void>(asked_.take(SIZE_MAX, SIZE_MAX)); }
  // All of them; none is unconfirmed any more. What is under way is among them: it has the epoch
  // that may not count, and what was sent of its key before is older.
  std::vector<Status> take() {
    asking();
    for (const Status& s : under_way_) asked_.offer(s);
    return asked_.take(SIZE_MAX, SIZE_MAX);
  }

 private:
  static void move(std::vector<Status>& from, Buffer& to) {
    for (Status& s : from) to.offer(std::move(s));
  }

  Buffer asked_, sent_;
  std::vector<Status> under_way_;
};

}  // namespace davit::reporter
