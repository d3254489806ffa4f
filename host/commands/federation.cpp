// davit federation status [RESOURCE [OBJECT]] | check FILE... | release RESOURCE
#include <cstdio>

#include <davit/v1/federation.pb.h>

#include "davit.hpp"
#include "federation_check.hpp"
#include "federation_status.hpp"
#include "operator_client.hpp"
#include "output.hpp"

namespace davit::host {
namespace {

constexpr std::chrono::seconds watch_interval{2};

struct FederationOptions {
  ServerAddress server;
  Format format = Format::table;
  FederationQuestion question;
  bool watch = false;
  std::vector<std::string> files;  // of check
};
using FederationOptionsPtr = std::shared_ptr<FederationOptions>;

int run_status(const FederationOptions& o) {
  auto client = OperatorClient::open(o.server);
  if (!client.ok()) return not_usable("federation", client.error());
  FederationQuestion question = o.question;
  question.objects = question.objects || !question.object.empty();
  while (true) {
    const auto code = show_federation(*client, "federation", question, o.format);
    if (!code) return failed("federation", {Code::unimplemented, "this server does no federation"});
    if (!o.watch || *code != 0 || !flush_output() || !client->pause(watch_interval)) return *code;
    if (o.format == Format::table) std::puts("");
  }
}

int run_release(const FederationOptions& o) {
  if (o.question.resource.empty()) throw UsageError("release the deletes of which resource?");
  auto client = OperatorClient::open(o.server);
  if (!client.ok()) return not_usable("federation", client.error());
  v1::FederationReleaseRequest request;
  request.set_resource(o.question.resource);
  v1::FederationReleaseResponse answer;
  if (auto r = client->call("FederationService/Release", request, answer); !r.ok())
    return failed("federation", r.error());
  if (o.format != Format::table) {
    print(to_json(answer), o.format);
  } else if (answer.deletes() == 0) {
    tell(stdout, "no delete of " + request.resource() + " is held");
  } else {
    tell(stdout, "released: " + std::to_string(answer.deletes()) +
                     (answer.deletes() == 1 ? " object is" : " objects are") +
                     " deleted downstream");
  }
  return 0;
}

CommandPtr status_verb(const FederationOptionsPtr& o) {
  auto verb = std::make_shared<Command>("status", "[RESOURCE [OBJECT]] [--objects] [-w]",
                                        "how the objects of both clusters stand to each other",
                                        [o] { return run_status(*o); });
  verb->word("RESOURCE", o->question.resource, "of this resource only: robots.example.com");
  verb->word("OBJECT", o->question.object, "NAME or NAMESPACE/NAME, also if it is in step");
  verb->flag("--objects", o->question.objects, "name the objects that are not in step, and why");
  verb->flag("-w,--watch", o->watch, "again every two seconds");
  verb->examples(
      {"davit federation status", "davit federation status robots.example.com --objects"});
  return verb;
}

CommandPtr check_verb(const FederationOptionsPtr& o) {
  auto verb = std::make_shared<Command>(
      "check", "FILE...",
      "before it is switched on: ask both clusters what is missing, and say what would be written "
      "and deleted; writes nothing",
      [o] {
        if (o->files.empty()) throw UsageError("names no configuration file");
        return check_federation(o->files, o->format);
      });
  verb->words("FILE", o->files, "as for run; a running process is not disturbed");
  verb->examples({"davit federation check /etc/davit/federation.toml"});
  return verb;
}

CommandPtr release_verb(const FederationOptionsPtr& o) {
  auto verb = std::make_shared<Command>(
      "release", "RESOURCE",
      "let the deletes go that are held because upstream has lost many objects at once",
      [o] { return run_release(*o); });
  verb->word("RESOURCE", o->question.resource, "as status shows it");
  verb->examples({"davit federation release robots.example.com"});
  return verb;
}

}  // namespace

CommandPtr federation_command() {
  auto o = std::make_shared<FederationOptions>();
  auto command = std::make_shared<Command>("federation", "status|check|release",
                                           "look at a process that keeps two clusters equal");
  add_format(*command, o->format);
  o->server.add_options(*command);
  for (const auto& make : {status_verb, check_verb, release_verb}) command->verb(make(o));
  return command;
}

}  // namespace davit::host
