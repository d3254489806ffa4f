// Access: asks the API server which rights the agent's account has, and whether the cluster has
// what the kinds need. It asks one question after another, so that a start causes no burst of
// requests. The hub starts it; an object of this class lives as long as a question is under way.
#pragma once

#include <functional>
#include <memory>

#include <davit/host.hpp>

#include "rights.hpp"

namespace davit::applier {

class Access : public std::enable_shared_from_this<Access> {
 public:
  struct Answer {
    std::vector<Right> missing;
    std::vector<Part> absent;
    // Why the review stopped early; empty: every question was answered. After a failure `missing`
    // and `absent` hold what is known so far.
    std::string failure;
    bool refused = false;       // the API server refuses the review itself
    bool unknown_here = false;  // this cluster does not serve such reviews
  };
  struct Question {
    std::vector<Right> rights;
    std::vector<Part> parts;
    std::string ns{};  // one to which the cluster is restricted; empty: it is not
    size_t size() const { return rights.size() + parts.size(); }
    // Asks in these namespaces, if there are any.
    void restrict_to(const std::vector<std::string>& namespaces);
  };
  // `done` is called once, on the strand. Each question takes at most `timeout`.
  static void ask(const Host& host, const cluster::Client& cluster, const Strand& strand,
                  Question question, std::chrono::nanoseconds timeout,
                  std::function<void(Answer)> done);
  // Asks the same on the calling thread, which blocks until `deadline` at most.
  static Answer ask_and_wait(const Host& host, const cluster::Client& cluster, Question question,
                             std::chrono::nanoseconds deadline);

 private:
  Access(const Host& host, cluster::Client cluster, Strand strand, Question question,
         std::chrono::nanoseconds timeout, std::function<void(Answer)> done);
  void next();
  static cluster::Request ask_of(const Question& question, size_t n);
  static bool take(const Question& question, size_t n, const cluster::Response& r, Answer& into);

  Host host_;
  cluster::Client cluster_;
  Strand strand_;
  Question question_;
  const std::chrono::nanoseconds timeout_;
  std::function<void(Answer)> done_;
  size_t next_ = 0;
  Answer answer_;
};

}  // namespace davit::applier
