// davit token new|delete
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "davit.hpp"
#include "exit_codes.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "rpc/agent_token_files.hpp"
#include "services/durable_file.hpp"
#include "token_client.hpp"
#include "toml_text.hpp"

namespace davit::host {

namespace {

struct NewToken {
  ServerAddress server;
  const CLI::Option* server_option = nullptr;
  std::string role = "agent", name, out, listener, existing;
  std::vector<std::string> regions;
  bool offline = false;

  // Named on the command line or in the environment.
  bool asks_server() const { return !offline && role == "agent" && server_option->count() > 0; }
};

std::string name_of(const NewToken& o) {
  if (!o.name.empty()) return o.name;
  return o.regions.size() == 1 && o.regions.front() != "*" ? o.regions.front() : o.role;
}

// The lines that a server's configuration needs.
std::string lines_of(const NewToken& o) {
  const std::string name = name_of(o);
  const std::string file =
      o.out.empty() ? "/etc/davit/" + name + ".token" : std::filesystem::absolute(o.out).string();
  std::string out =
      "# Beside the server's other tokens, in the same file; then SIGHUP takes it in.\n"
      "[[rpc.server." +
      (o.listener.empty() ? std::string("main") : o.listener) +
      ".token]]\n"
      "name = " +
      in_toml(name) + "\nfile = " + in_toml(file) + "\nrole = " + in_toml(o.role) + "\n";
  std::string regions;
  for (const std::string& region : o.regions)
    regions += (regions.empty() ? "" : ", ") + in_toml(region);
  if (!regions.empty()) out += "regions = [" + regions + "]\n";
  return out;
}

void check(const NewToken& o) {
  if (const std::string fault = role_fault(o.role); !fault.empty())
    throw UsageError("--role " + fault);
  if (o.regions.empty() && o.role == "agent")
    throw UsageError("of which region is the agent? (--region R)");
  if (const std::string fault = regions_fault(o.role, o.regions); !fault.empty())
    throw UsageError(fault);
  require_existing("--existing", o.existing);
  if (!is_table_name(o.listener) && !o.listener.empty())
    throw UsageError("--listener is NAME of [rpc.server.NAME]");
  if (!o.asks_server()) {
    if (!o.existing.empty()) throw UsageError("--existing needs a --server, which has the token");
    return;
  }
  if (o.regions.size() != 1 || o.regions.front() == "*")
    throw UsageError(
        "a server makes a token of one region: name one, or go without it (--offline)");
  if (!o.name.empty()) throw UsageError("a token that the server makes has its region's name");
}

// A line for the file, which is there as a whole or not at all.
Result<> write_out(const std::string& path, const std::string& token) {
  if (path.empty()) return {};
  auto r = place_private_file(path, token + "\n");
  // It is no server that is away.
  if (!r.ok() && r.error().code == Code::unavailable)
    return Error{Code::internal, r.error().message};
  return r;
}

int made_by_server(const NewToken& o) {
  auto client = OperatorClient::open(o.server);
  if (!client.ok()) return not_usable("token", client.error());
  const auto made = TokenClient(*client, o.listener).create(o.regions.front(), o.existing);
  if (!made.ok()) return failed("token", made.error());
  if (auto r = write_out(o.out, made->token); !r.ok())
    return failed("token", r.error().in("the server has made the token (--existing keep)"));
  if (o.out.empty()) std::printf("%s\n", made->token.c_str());
  tell(stderr, "region " + o.regions.front() +
                   (made->created ? " has a token now, " : " has a token, ") + made->file +
                   " on the server's machine; it is valid");
  return exit_code_done;
}

int new_token(const NewToken& o) {
  check(o);
  if (!o.out.empty() && is_there(o.out))
    return failed("token", {Code::already_exists, o.out + " is there: it is not overwritten"});
  if (o.asks_server()) return made_by_server(o);
  const auto token = random_token();
  if (!token.ok()) return failed("token", token.error());
  if (auto r = write_out(o.out, *token); !r.ok()) return failed("token", r.error());
  if (o.out.empty()) std::printf("%s\n\n", token->c_str());
  std::fputs(lines_of(o).c_str(), stdout);
  return exit_code_done;
}

CommandPtr new_verb() {
  auto o = std::make_shared<NewToken>();
  auto verb = std::make_shared<Command>(
      "new", "[--role ROLE] --region R... [--out FILE] [--server URL]",
      "make a token, and print the lines of the server's configuration for it",
      [o] { return new_token(*o); });
  verb->option("--role", "ROLE", o->role, "agent when absent; operator, or what a plugin asks for");
  verb->options("-r,--region", "R", o->regions, "of an agent; \"*\": every region");
  verb->option("--name", "NAME", o->name, "in logs; the region or the role when absent");
  verb->option("--out", "FILE", o->out, "write the token into this new file and do not print it");
  verb->option("--listener", "NAME", o->listener, "of [rpc.server.NAME]; main when absent");
  verb->option("--existing", "keep|replace", o->existing,
               "with --server, when the region has a token; it is refused when absent");
  verb->flag("--offline", o->offline, "ask no server, also where $DAVIT_SERVER names one");
  o->server.add_options(*verb);
  o->server_option = verb->get_option("--server");
  verb->examples({"davit token new --region eu-3",
                  "davit token new --role operator --out /etc/davit/operator.token",
                  "davit token new --region eu-3 --server https://control.example:7070 "
                  "--token-file operator.token"});
  return verb;
}

struct DeleteToken {
  ServerAddress server;
  std::string region, listener;
};

int delete_token(const DeleteToken& o) {
  if (o.region.empty()) throw UsageError("of which region? (REGION)");
  auto client = OperatorClient::open(o.server);
  if (!client.ok()) return not_usable("token", client.error());
  const auto removed = TokenClient(*client, o.listener).remove(o.region);
  if (!removed.ok()) return failed("token", removed.error());
  if (!*removed)
    return failed("token", {Code::not_found, "the server has made no token of region " + o.region +
                                                 " (davit agent leave says what else there is)"});
  tell(stdout, "the token of region " + o.region + " is deleted: its agents are not let in");
  return exit_code_done;
}

CommandPtr delete_verb() {
  auto o = std::make_shared<DeleteToken>();
  auto verb = std::make_shared<Command>(
      "delete", "REGION", "delete the token that the server has made for a region's agents",
      [o] { return delete_token(*o); });
  verb->word("REGION", o->region, "the agents' region");
  verb->option("--listener", "NAME", o->listener,
               "of [rpc.server.NAME]; needed when several have tokens of agents");
  o->server.add_options(*verb);
  verb->examples({"davit token delete eu-3"});
  return verb;
}

}  // namespace

CommandPtr token_command() {
  auto command = std::make_shared<Command>("token", "new|delete",
                                           "make tokens of agents and operators, or delete them");
  command->verb(new_verb());
  command->verb(delete_verb());
  return command;
}

}  // namespace davit::host
