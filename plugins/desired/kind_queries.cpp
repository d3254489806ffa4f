#include "kind_queries.hpp"

namespace davit::desired {

struct KindQueries::Waiting {
  Waiting(const Strand& strand, size_t jobs, std::function<void()> t)
      : timer(strand), left(jobs), then(std::move(t)) {}
  Timer timer;
  size_t left;
  std::function<void()> then;  // empty: it has been called

  void end() {
    timer.cancel();
    if (const auto call = std::exchange(then, nullptr)) call();
  }
};

void KindQueries::add(Key key, const std::string& instance, std::function<Condition()> ask) {
  answers_[key] = {DAVIT_ISSUE_DELAYED, "kind " + key.kind + " does not answer"};
  questions_[instance].push_back({std::move(key), std::move(ask)});
}

void KindQueries::run(const Host& host, const Strand& strand,
                      const std::shared_ptr<KindQueries>& queries, std::function<void()> then) {
  strand.post([host, strand, queries, then = std::move(then)]() mutable {
    auto questions = std::exchange(queries->questions_, {});
    const auto waiting = std::make_shared<Waiting>(strand, questions.size(), std::move(then));
    if (questions.empty()) return waiting->end();
    waiting->timer.after(answer_timeout, [queries, waiting] {
      {
        const std::lock_guard lock(queries->mutex_);
        queries->over_ = true;
      }
      waiting->end();
    });
    for (auto& [instance, of_kind] : questions) {
      host.blocking(instance, [strand, queries, waiting, of_kind = std::move(of_kind)] {
        queries->ask(of_kind);
        strand.post([waiting] {
          if (--waiting->left == 0) waiting->end();
        });
      });
    }
  });
}

// On the kind's pool.
void KindQueries::ask(const std::vector<Question>& questions) {
  for (const Question& question : questions) {
    {
      const std::lock_guard lock(mutex_);
      if (over_) return;
    }
    Condition said = question.ask();
    const std::lock_guard lock(mutex_);
    if (!over_) answers_[question.key] = std::move(said);
  }
}

KindQueries::Answers KindQueries::answers() const {
  const std::lock_guard lock(mutex_);
  return answers_;
}

namespace {

// Why a live record is not sent to Krane's agents; empty: it is sent. Such an agent would refuse
// the record and stop. Or why the kind cannot say so now.
Condition unsent(const Kind& kind, const Record& r) {
  const auto delayed = [&kind](const Error& why) {
    return Condition{DAVIT_ISSUE_DELAYED, "kind " + kind.client.kind() + ": " + why.message};
  };
  auto json = r.json.empty() ? kind.schema.to_json(kind.client.description().apply_type, r.payload)
                             : Result<std::string>(r.json);
  if (json.ok()) {
    const auto found = kind.client.classify(r.state, *json);
    if (!found.ok() && retryable(found.error().code)) return delayed(found.error());
    if (!found.ok() || *found != kind::Class::apply) return {};
  }
  auto told = json.ok() ? kind.client.apply_message(*json) : json;
  if (told.ok()) return {};
  const Error& why = told.error();
  if (json.ok() && retryable(why.code)) return delayed(why);
  return {DAVIT_ISSUE_HELD,
          "not sent on ctrl.v1: " + (why.where.empty() ? "" : why.where + ": ") + why.message};
}

}  // namespace

KindQueries::Answers dated(const KindQueries& queries, Delays& delays, int64_t now_unix_ms) {
  auto out = queries.answers();
  for (auto& [key, said] : out) {
    if (said.word != DAVIT_ISSUE_DELAYED) {
      delays.over(key, Delay::ctrl_v1);
      continue;
    }
    const int64_t since = delays.note(key, Delay::ctrl_v1, 0, said.reason, now_unix_ms);
    said.reason = Delayed::text(since, said.reason);
  }
  return out;
}

void ask_unsent(const Kinds& kinds, const davit_record& record, KindQueries& queries) {
  const Kind* kind = kinds.get(view(record.key.kind));
  if (kind == nullptr || !kind->client.description().ctrl_v1) return;
  if ((record.flags & DAVIT_RECORD_LIVE) == 0) return;
  Record copy = from_abi(record);
  Key key = copy.key;
  queries.add(std::move(key), std::string(kind->client.instance()),
              [kind, copy = std::move(copy)] { return unsent(*kind, copy); });
}

}  // namespace davit::desired
