#include <cstdio>

#include "agent_join.hpp"
#include "agent_removal.hpp"
#include "exit_codes.hpp"
#include "installation_options.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "region_server.hpp"
#include "rpc/agent_token_files.hpp"
#include "token_client.hpp"

namespace davit::host {

namespace {

constexpr std::chrono::seconds until_next_leave_look{1};
constexpr std::chrono::minutes kubectl_time{10};

struct Leave {
  ServerAddress server;
  std::string region, listener, name, ns, kubeconfig, kubectl = "kubectl";
  bool force = false, dry_run = false;
};

// Gives up one region in order. Each step says what it waits for.
class Departure {
 public:
  Departure(const Leave& options, OperatorClient& client)
      : o_(options),
        client_(client),
        server_(client, options.region),
        tokens_(client, options.listener) {}

  Result<> run();

 private:
  Result<> look();
  void print_plan() const;
  Result<> await_objects();
  Result<> remove_agent();
  Result<> withdraw_token();
  // One more look later, if the time allows it. Says what is waited for when it is something else.
  Result<> wait(const std::string& for_what);

  const Leave& o_;
  OperatorClient& client_;
  RegionServer server_;
  TokenClient tokens_;
  RegionView view_;
  RegionRecords records_;
  // Why the server has no token of the region to delete. Empty: it has one.
  std::string no_token_;
  std::string said_;
};

Result<> Departure::look() {
  auto view = server_.look(unix_ms_now());
  if (!view.ok()) return view.error();
  view_ = *view;
  auto records = server_.records();
  if (!records.ok()) return records.error();
  records_ = *records;
  const auto tokens = tokens_.describe(o_.region);
  if (!tokens.ok() && tokens.error().code != Code::failed_precondition) return tokens.error();
  if (!tokens.ok()) no_token_ = "the server makes no tokens";
  if (tokens.ok() && !tokens->region_has_token) no_token_ = "the server has not made it";
  if (records_.count > 0 && !o_.force && !o_.dry_run) {
    return Error{Code::failed_precondition,
                 "region " + o_.region + " has " + counted(records_.count, "record") +
                     ", such as " + records_.example +
                     ": delete them while its agent runs, or --force deletes them"};
  }
  return {};
}

void Departure::print_plan() const {
  const std::string region = "region " + o_.region;
  std::printf("%s: %s to delete%s\n", region.c_str(), counted(records_.count, "record").c_str(),
              records_.count > 0 && !o_.force ? ", which takes --force" : "");
  std::printf("%s: %s to wait for\n", region.c_str(), counted(view_.left(), "object").c_str());
  std::printf("%s: %s to forget\n", region.c_str(),
              counted(static_cast<uint64_t>(view_.agents), "agent").c_str());
  std::printf(
      "%s: %s\n", region.c_str(),
      no_token_.empty() ? "its token is deleted" : ("its token stays: " + no_token_).c_str());
}

Result<> Departure::wait(const std::string& for_what) {
  if (for_what != said_) tell(stderr, "waiting: " + for_what);
  said_ = for_what;
  if (client_.pause(until_next_leave_look)) return {};
  return Error{Code::deadline_exceeded, "the timeout is over, and " + for_what + ": try again"};
}

Result<> Departure::await_objects() {
  while (true) {
    auto view = server_.look(unix_ms_now());
    if (!view.ok()) return view.error();
    if (view->left() == 0) return {};
    const std::string left = left_of(*view, o_.region);
    if (!view->at_work && o_.force) {
      tell(stderr, "given up: " + left);
      return {};
    }
    if (!view->at_work) {
      return Error{Code::failed_precondition,
                   left + ": start it, or --force leaves them in the cluster"};
    }
    if (auto r = wait(left); !r.ok()) return r;
  }
}

Result<> Departure::remove_agent() {
  if (o_.kubeconfig.empty()) return {};
  const auto until = std::chrono::steady_clock::now() + kubectl_time;
  const auto kubectl = Kubectl::open(o_.kubectl, o_.kubeconfig, until);
  if (!kubectl.ok()) return kubectl.error();
  while (true) {
    const auto pods = end_agent(*kubectl, o_.name, o_.ns);
    if (!pods.ok()) return pods.error();
    if (pods->empty()) break;
    if (auto r = wait("the agent of region " + o_.region + " is ending"); !r.ok()) return r;
  }
  return remove_agent_objects(*kubectl, o_.name, o_.ns);
}

Result<> Departure::withdraw_token() {
  if (!no_token_.empty()) return {};
  const auto removed = tokens_.remove(o_.region);
  if (!removed.ok()) return removed.error();
  return {};
}

Result<> Departure::run() {
  if (auto r = look(); !r.ok()) return r;
  if (o_.dry_run) {
    print_plan();
    return {};
  }
  if (o_.force) {
    const auto deleted = server_.delete_records();
    if (!deleted.ok()) return deleted.error();
  }
  if (auto r = await_objects(); !r.ok()) return r;
  if (auto r = remove_agent(); !r.ok()) return r;
  if (auto r = withdraw_token(); !r.ok()) return r;
  if (o_.force)
    if (auto r = server_.delete_records(); !r.ok()) return r.error();
  if (auto r = server_.forget_agents(); !r.ok()) return r;
  if (!no_token_.empty()) {
    tell(stderr, "the token of region " + o_.region + " stays: " + no_token_ +
                     "; remove it from the server's configuration, and send SIGHUP");
  }
  if (o_.kubeconfig.empty()) {
    tell(stderr, "what remains of the agent is deleted in its cluster by:");
    std::fputs(agent_removal_commands(o_.name, o_.ns).c_str(), stdout);
  }
  tell(stderr, "region " + o_.region + " is given up");
  return {};
}

int leave(Leave& o) {
  if (o.region.empty()) throw UsageError("which region? (--region R)");
  if (const std::string fault = folder_region_fault(o.region); !fault.empty())
    throw UsageError(fault);
  const AgentInstallation usual;
  if (o.name.empty()) o.name = usual.name;
  if (o.ns.empty()) o.ns = usual.ns;
  auto client = OperatorClient::open(o.server);
  if (!client.ok()) return not_usable("agent", client.error());
  if (auto r = Departure(o, *client).run(); !r.ok()) return failed("agent", r.error());
  return exit_code_done;
}

}  // namespace

CommandPtr leave_verb() {
  auto o = std::make_shared<Leave>();
  auto verb = std::make_shared<Command>(
      "leave", "--region R [--kubeconfig FILE] [--force] [--dry-run]",
      "give up a region: wait until its objects are gone, then its agent and its token go",
      [o] { return leave(*o); });
  verb->option("-r,--region", "R", o->region, "which has no records any more");
  verb->flag("--force", o->force,
             "delete the region's records, and go on without an agent that is away");
  verb->flag("--dry-run", o->dry_run, "only say what there is to do");
  verb->option("--kubeconfig", "FILE", o->kubeconfig,
               "of the agent's cluster: its objects are deleted; their deletes are printed when "
               "absent");
  verb->option("--kubectl", "PROGRAM", o->kubectl, "kubectl of the PATH when absent");
  verb->option("--name", "NAME", o->name,
               "of the agent's objects; " + AgentInstallation().name + " when absent");
  verb->option("--namespace", "NAMESPACE", o->ns, AgentInstallation().ns + " when absent");
  verb->option("--listener", "NAME", o->listener,
               "of [rpc.server.NAME]; needed when several have tokens of agents");
  o->server.add_options(*verb);
  verb->examples({"davit agent leave --region eu-3 --dry-run",
                  "davit agent leave --region eu-3 --force --kubeconfig ~/.kube/eu-3"});
  return verb;
}

}  // namespace davit::host
