// davit wait KIND ID...|KIND/ID... --for=GOAL [--region R] [--timeout 60s]
#include <cstdio>

#include "await_records.hpp"
#include "davit.hpp"
#include "named_records.hpp"
#include "output.hpp"
#include "record_reader.hpp"
#include "suggestions.hpp"

namespace davit::host {

namespace {

struct WaitOptions {
  RecordWords words;
  RecordQuery query;
  std::string goal;
  ServerAddress server;
};

v1::Outcome wanted_key(const std::string& kind, const std::string& region, const std::string& id) {
  v1::Outcome out;
  out.set_kind(kind);
  out.set_region(region);
  out.set_id(id);
  return out;
}

// What is to be waited for: the records that the words name. Of what is to be deleted also names
// that no record has, because their objects may still be there.
std::vector<v1::Outcome> keys_of(const RecordsRead& read, const WaitOptions& options,
                                 const WaitGoal& goal) {
  std::vector<v1::Outcome> out;
  for (const auto& r : read.records) {
    const auto& d = r.document();
    out.push_back(wanted_key(d.kind(), d.region(), d.id()));
    out.back().set_version(r.version());
    out.back().set_incarnation(r.incarnation());
  }
  if (goal.type != WaitGoal::Type::deleted || options.query.region.empty()) return out;
  for (const RecordName& name : read.absent)
    out.push_back(wanted_key(name.kind, options.query.region, name.id));
  return out;
}

// Returns the exit code.
int tell_what_is_absent(OperatorClient& client, const RecordsRead& read,
                        const WaitOptions& options) {
  IdSuggestions suggestions(client, options.query.region);
  for (const RecordName& name : read.absent) {
    Error error = not_there(name, options.query.region);
    error.message += suggestions.after(name);
    failed("wait", error);
  }
  return exit_code_not_found;
}

int wait(WaitOptions& options) {
  if (options.goal.empty())
    throw UsageError("for what? (--for=healthy, --for=deleted, --for=version=N or --for=WORD)");
  const auto goal = WaitGoal::parse(options.goal);
  if (!goal.ok()) throw UsageError(goal.error().message);
  options.query.names = options.words.names();
  if (options.query.names.empty()) throw UsageError("which record? (KIND ID, or KIND/ID)");
  options.query.deleted = goal->type == WaitGoal::Type::deleted;
  if (!options.server.timeout) options.server.timeout = wait_timeout;
  auto client = OperatorClient::open(options.server);
  if (!client.ok()) return not_usable("wait", client.error());
  const auto read = read_records(*client, options.query);
  if (!read.ok()) return failed("wait", read.error());
  if (goal->type != WaitGoal::Type::deleted && !read->absent.empty())
    return tell_what_is_absent(*client, *read, options);
  return await_goal(*client, *goal, keys_of(*read, options, *goal),
                    {"wait", "not yet", stdout, *options.server.timeout});
}

}  // namespace

CommandPtr wait_command() {
  auto options = std::make_shared<WaitOptions>();
  auto command = std::make_shared<Command>(
      "wait", "KIND [ID...]|KIND/ID... --for=healthy|deleted|version=N|WORD",
      "wait until records have come to a state", [options] { return wait(*options); });
  options->words.add_words(*command);
  command->option("-r,--region", "R", options->query.region,
                  "where the records belong; all regions when absent");
  command->option("--for", "healthy|deleted|version=|parked|held|progressing|unhealthy|paused",
                  options->goal,
                  "healthy: the record runs at the version that it has; deleted: nothing of it is "
                  "left; version=N: its agent has observed that version; or any word that status "
                  "shows of it, also as condition=WORD");
  options->server.add_options(*command);
  command->examples({"davit wait deployment/d_web -r eu-1 --for=healthy --timeout 5m",
                     "davit wait deployment d_web d_shop -r eu-1 --for=deleted"});
  return command;
}

}  // namespace davit::host
