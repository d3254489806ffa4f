#include "review.hpp"

#include <davit/v1/federation.pb.h>

#include <algorithm>
#include <future>
#include <set>
#include <thread>

#include "objects.hpp"
#include "rights.hpp"

namespace davit::federation {
namespace {

using namespace std::chrono_literals;

constexpr size_t names_max = 20;  // of each resource and write
constexpr auto look_interval = 20ms;

const char* word_of(Severity severity) {
  switch (severity) {
    case Severity::fault:
      return "fault";
    case Severity::warning:
      return "warning";
    case Severity::note:
      break;
  }
  return "note";
}

// It will not come by waiting.
bool decided(const SideReport& side) {
  return side.complete || side.final;
}

bool settled_now(const Report& report) {
  if (!report.ids_known) return false;
  if (!report.complete && !report.definitions_final) return false;
  return std::ranges::all_of(report.resources, [](const ResourceReport& r) {
    return decided(r.upstream) && decided(r.downstream) && !r.busy;
  });
}

const cluster::Resource definitions_resource{"apiextensions.k8s.io", "v1",
                                             "customresourcedefinitions"};

std::string what(const cluster::Response& r) {
  return r.message.empty() ? "no answer" : r.message;
}

}  // namespace

Review::Review(Host host, const Configuration& configuration, cluster::Client upstream,
               cluster::Client downstream, std::shared_ptr<Hub> hub, Outstanding& outstanding)
    : host_(host),
      configuration_(configuration),
      hub_(std::move(hub)),
      outstanding_(outstanding),
      ends_{{"upstream \"" + configuration.upstream + "\"", std::move(upstream)},
            {"downstream \"" + configuration.downstream + "\"", std::move(downstream)}} {}

Result<std::string> Review::run(const Op& op) {
  auto seen = settled(op);
  if (!seen.ok()) return seen.error();
  const Report& report = *seen;
  say_unseen(report);
  say_rights(report);
  say_definitions(report);
  say_namespaces(report);
  say_name(report);
  v1::FederationReview out;
  out.set_instance(std::string(host_.instance()));
  say_changes(report, out);
  std::ranges::stable_sort(findings_, std::greater(), &Finding::severity);
  for (const Finding& finding : findings_) {
    v1::FederationFinding& to = *out.add_findings();
    to.set_severity(word_of(finding.severity));
    to.set_of(finding.of);
    to.set_text(finding.text);
  }
  return out.SerializeAsString();
}

Result<Report> Review::report() {
  auto promise = std::make_shared<std::promise<Result<Report>>>();
  auto answer = promise->get_future();
  hub_->report({"", "", SIZE_MAX}, [promise](const Result<Report>& r) { promise->set_value(r); });
  return answer.get();
}

// The last report, which may lack something at the deadline.
Result<Report> Review::settled(const Op& op) {
  const auto patience = configuration_.limits.request_timeout;
  const auto until = Clock::now() + patience;
  while (true) {
    auto now = report();
    if (!now.ok() || settled_now(*now)) return now;
    if (op.cancelled()) return Error{Code::cancelled, "told to stop"};
    if (Clock::now() >= until) return now;
    std::this_thread::sleep_for(look_interval);
  }
}

// All at once; returns when all are answered.
void Review::ask(std::vector<Asked> questions) {
  std::vector<std::future<cluster::Response>> answers;
  for (Asked& asked : questions) {
    auto promise = std::make_shared<std::promise<cluster::Response>>();
    answers.push_back(promise->get_future());
    asked.request.deadline_ns = (host_.now() + configuration_.limits.request_timeout).count();
    at(asked.end)
        .client.under(operation_)
        .request(asked.request, [promise, ticket = outstanding_.begin()](cluster::Response r) {
          promise->set_value(std::move(r));
        });
  }
  for (size_t i = 0; i < questions.size(); ++i) questions[i].answered(answers[i].get());
}

void Review::find(Severity severity, std::string of, std::string text) {
  findings_.push_back({severity, std::move(of), std::move(text)});
}

void Review::say_unseen(const Report& report) {
  if (!report.pairing.empty()) find(Severity::fault, "", report.pairing);
  if (!report.definitions.empty())
    find(Severity::fault, "the definitions " + configuration_.definitions, report.definitions);
  for (const auto& [definition, fault] : report.faults) find(Severity::fault, definition, fault);
  if (report.complete && report.resources.empty() && report.faults.empty())
    find(Severity::warning, "",
         "nothing takes part: no definition has the annotation "
         "cr-syncer.cloudrobotics.com/spec-source, and the configuration "
         "names no resource");
  for (const ResourceReport& r : report.resources) {
    const std::string where = r.ns.empty() ? r.rules.name : r.rules.name + " in " + r.ns;
    if (!r.upstream.complete)
      find(Severity::fault, where, at(r.rules.source()).name + ": " + r.upstream.reason);
    if (!r.downstream.complete)
      find(Severity::fault, where, at(r.rules.target()).name + ": " + r.downstream.reason);
  }
}

void Review::say_rights(const Report& report) {
  std::vector<NeededRight> rights = common_rights(configuration_);
  for (const ResourceReport& r : report.resources)
    for (NeededRight& needed : rights_of(r.rules, r.ns)) rights.push_back(std::move(needed));
  std::vector<Asked> questions;
  std::set<std::string> silent;
  for (const NeededRight& needed : rights) {
    questions.push_back(
        {needed.end, review_of(needed.right), [&, needed](const cluster::Response& r) {
           const std::string& side = at(needed.end).name;
           if (r.code != Code::ok) {
             if (silent.insert(side).second)
               find(Severity::warning, side, "its rights cannot be asked for: " + what(r));
           } else if (!kubernetes::allowed(r).value_or(false)) {
             const kubernetes::Right& right = needed.right;
             find(needed.optional ? Severity::warning : Severity::fault, side,
                  "the account may not " + right.verb + " " + right.name() +
                      (right.ns.empty() ? "" : " in " + right.ns));
           }
         }});
  }
  ask(std::move(questions));
}

void Review::say_definitions(const Report& report) {
  std::set<std::string> done;
  for (const ResourceReport& r : report.resources) {
    const Rules& rules = r.rules;
    if (rules.resource.group.empty() || !done.insert(rules.name).second) continue;
    cluster::Request q;
    q.verb = DAVIT_VERB_GET;
    q.resource = definitions_resource;
    q.name = rules.name;
    cluster::Response up, down;
    ask({{rules.source(), q, [&](const cluster::Response& a) { up = a; }},
         {rules.target(), q, [&](const cluster::Response& a) { down = a; }}});
    const auto known = [](const cluster::Response& a) {
      return a.code == Code::ok || a.code == Code::not_found;
    };
    if (!known(up) || !known(down)) {
      const cluster::Response& unknown = known(up) ? down : up;
      find(Severity::note, rules.name, "its definitions cannot be compared: " + what(unknown));
      continue;
    }
    // Of the API server itself, or of an aggregated one.
    if (up.code != Code::ok && down.code != Code::ok) continue;
    const json::value first = parse_object(up.body), second = parse_object(down.body);
    for (Finding& finding :
         compare_definitions(rules, up.code == Code::ok ? &first.get_object() : nullptr,
                             down.code == Code::ok ? &second.get_object() : nullptr))
      findings_.push_back(std::move(finding));
  }
}

// Who goes by the robot's name so far. An account that may not read it is no fault.
void Review::say_name(const Report& report) {
  const std::string& robot = configuration_.site.robot_name;
  if (robot.empty() || configuration_.claim_namespace.empty()) return;
  cluster::Request q;
  q.verb = DAVIT_VERB_GET;
  q.resource = {"coordination.k8s.io", "v1", "leases"};
  q.ns = configuration_.claim_namespace;
  q.name = lease_name(robot);
  cluster::Response lease;
  ask({{EndOf::upstream, q, [&](const cluster::Response& r) { lease = r; }}});
  if (lease.code != Code::ok) return;
  boost::system::error_code none;
  const json::value answer = parse_object(lease.body);
  const json::value* holder = answer.find_pointer("/spec/holderIdentity", none);
  if (holder == nullptr || !holder->is_string() || report.downstream_id.empty()) return;
  const std::string who(holder->get_string());
  if (who.empty() || who == report.downstream_id) return;
  find(Severity::warning, "robot_name",
       "\"" + robot + "\" is claimed by another cluster (" + who +
           "): if it still runs, give one of them another name");
}

void Review::say_namespaces(const Report& report) {
  std::set<std::pair<EndOf, std::string>> needed;
  for (const ResourceReport& r : report.resources) {
    for (const ObjectReport& object : r.objects) {
      const std::string ns = controller::split_key(object.key).first;
      if (object.does == Does::create && !ns.empty()) needed.emplace(r.rules.target(), ns);
    }
  }
  std::vector<Asked> questions;
  for (const auto& [end, ns] : needed) {
    cluster::Request q;
    q.verb = DAVIT_VERB_GET;
    q.resource = {"", "v1", "namespaces"};
    q.name = ns;
    questions.push_back({end, q, [this, end = end, ns = ns](const cluster::Response& r) {
                           if (r.code == Code::not_found)
                             find(Severity::warning, at(end).name,
                                  "has no namespace \"" + ns + "\": its objects cannot be created");
                         }});
  }
  ask(std::move(questions));
}

void Review::say_changes(const Report& report, v1::FederationReview& out) const {
  for (const ResourceReport& r : report.resources) {
    std::map<std::string, v1::FederationChange> changes;
    for (const ObjectReport& object : r.objects) {
      std::string write;
      if (object.standing == Standing::held) {
        write = "delete (held)";
      } else if (object.does == Does::stuck) {
        write = "stuck: " + object.why;
      } else if (object.does != Does::nothing && object.does != Does::wait) {
        write = name_of(object.does);
      }
      if (write.empty()) continue;
      v1::FederationChange& change = changes[write];
      change.set_resource(r.rules.name);
      change.set_write(write);
      change.set_objects(change.objects() + 1);
      if (static_cast<size_t>(change.names_size()) < names_max) change.add_names(object.key);
    }
    for (auto& [write, change] : changes) out.add_changes()->Swap(&change);
  }
}

}  // namespace davit::federation
