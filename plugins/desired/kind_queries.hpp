// KindQueries: what kinds are asked about the records of one page of a status: why they are not
// sent to Krane's agents. A kind may block, so each is asked on the pool of its own instance, once
// for all its records, and no kind waits for another. A record whose kind has not answered in time
// is shown as delayed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "conditions.hpp"
#include "kinds.hpp"

namespace davit::desired {

class KindQueries {
 public:
  // How long a page waits for its kinds.
  static constexpr std::chrono::seconds answer_timeout{2};

  // Adds a question about the record. `ask` runs on the pool of that instance.
  void add(Key key, const std::string& instance, std::function<Condition()> ask);
  bool empty() const { return questions_.empty(); }

  // Asks. Calls `then` once, on the strand, when all have answered or the timeout has passed.
  static void run(const Host& host, const Strand& strand,
                  const std::shared_ptr<KindQueries>& queries, std::function<void()> then);

  // After that: what is known of each record that was added. `delayed`: its kind has not answered.
  using Answers = std::map<Key, Condition>;
  Answers answers() const;

 private:
  struct Question {
    Key key;
    std::function<Condition()> ask;
  };
  struct Waiting;  // what the strand waits for
  void ask(const std::vector<Question>& questions);

  std::map<std::string, std::vector<Question>> questions_;  // by instance
  mutable std::mutex mutex_;
  std::map<Key, Condition> answers_;
  bool over_ = false;
};

// The answers, with since when each kind that cannot answer has been so. `delays` remembers it.
KindQueries::Answers dated(const KindQueries& queries, Delays& delays, int64_t now_unix_ms);

// Adds what is to be asked about a record, if anything.
void ask_unsent(const Kinds& kinds, const davit_record& record, KindQueries& queries);

}  // namespace davit::desired
