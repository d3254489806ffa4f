// Review: what `davit federation check` finds. The Hub rehearses: it decides about every object and
// writes nothing. The Review waits until it has seen both clusters, and asks them beside it for the
// rights of the accounts and for the definitions. Its calls block, and not on the strand.
#pragma once

#include "hub.hpp"

namespace davit::v1 {
class FederationReview;
}

namespace davit::federation {

enum class Severity { note, warning, fault };

struct Finding {
  Severity severity = Severity::note;
  std::string of, text;
};

// How the definitions of both sides differ, in what the rules need. NULL: it is not there. Pure.
std::vector<Finding> compare_definitions(const Rules& rules, const json::object* upstream,
                                         const json::object* downstream);

class Review {
 public:
  Review(Host host, const Configuration& configuration, cluster::Client upstream,
         cluster::Client downstream, std::shared_ptr<Hub> hub, Outstanding& outstanding);
  // Ends at the op's deadline at the latest: what has not been seen by then is a fault.
  Result<std::string> run(const Op& op);

 private:
  using Clock = std::chrono::steady_clock;
  struct End {
    std::string name;
    cluster::Client client;
  };
  struct Asked {
    EndOf end;
    cluster::Request request;
    std::function<void(const cluster::Response&)> answered;
  };

  Result<Report> settled(const Op& op);
  Result<Report> report();
  void ask(std::vector<Asked> questions);
  void find(Severity severity, std::string of, std::string text);
  void say_unseen(const Report& report);
  void say_rights(const Report& report);
  void say_definitions(const Report& report);
  void say_name(const Report& report);
  void say_namespaces(const Report& report);
  void say_changes(const Report& report, v1::FederationReview& out) const;
  const End& at(EndOf end) const { return ends_[static_cast<size_t>(end)]; }

  const Host host_;
  const Configuration& configuration_;
  const std::shared_ptr<Hub> hub_;
  Outstanding& outstanding_;
  Operation operation_;
  std::vector<End> ends_;
  std::vector<Finding> findings_;
};

}  // namespace davit::federation
