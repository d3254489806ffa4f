// davit storage backup FILE | restore FILE CONFIG... | verify [FILE] | maintain | migrate CONFIG...
//     | copy --from CONFIG --to CONFIG
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include <davit/v1/operator.pb.h>

#include "assembly/application.hpp"
#include "davit.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "storage_copy.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

// Calls Maintain until the server has examined everything. Returns the last answer, with the sum of
// tombstones.
Result<v1::MaintainResponse> maintain(OperatorClient& client, v1::MaintainRequest request) {
  v1::MaintainResponse last;
  uint64_t tombstones = 0;
  do {
    if (auto r = client.call("Maintain", request, last); !r.ok()) return r.error();
    tombstones += last.tombstones();
    request.set_resume_token(last.resume_token());
  } while (!last.resume_token().empty());
  last.set_tombstones(tombstones);
  return last;
}

std::string count(uint64_t n) {
  return std::to_string(n) + (n == 1 ? " tombstone" : " tombstones");
}

std::string forgotten(const v1::MaintainResponse& r, bool dry_run) {
  const auto n = r.agents_forgotten();
  if (n == 0) return {};
  return (dry_run ? "would forget " : "forgot ") + std::to_string(n) +
         (n == 1 ? " agent, which is" : " agents, which are") +
         " long silent with another in its place\n";
}

std::string summary(const v1::MaintainResponse& r, bool dry_run) {
  std::string out = forgotten(r, dry_run);
  if (r.tombstones() == 0) {
    out += "nothing to purge";
  } else {
    out += (dry_run ? "would purge " : "purged ") + count(r.tombstones());
  }
  out += "; the purge mark " + std::string(dry_run && r.tombstones() > 0 ? "would be " : "is ") +
         std::to_string(r.purged_through());
  if (r.held_by().empty()) return out + "; no tombstone is left";
  out += "\nkept from version " + std::to_string(r.held_version()) + " on, deleted " +
         age(r.held_committed_at_unix_ms(), unix_ms_now()) + " ago: ";
  if (r.held_by() != "agent") return out + "it is younger than the retention";
  return out + harmless("agent \"" + r.agent() + "\" of region \"" + r.region() +
                        "\" has not come past it");
}

// The server resolves the path; the command usually runs on the server's machine.
std::string absolute(const std::string& file) {
  return file.empty() ? file : std::filesystem::absolute(file).lexically_normal().string();
}

std::string mebibytes(uint64_t bytes) {
  constexpr double mebi = 1 << 20;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / mebi);
  return text;
}

int show(const google::protobuf::Message& answer, Format format, const std::string& line) {
  if (format != Format::table) {
    print(to_json(answer), format);
  } else {
    tell(stdout, line);
  }
  return 0;
}

struct StorageOptions {
  ServerAddress server;
  Format format = Format::table;
  std::string file;                  // of backup, restore and verify
  std::vector<std::string> configs;  // of restore and migrate
  std::string storage;
  std::optional<std::chrono::milliseconds> retention;
  bool dry_run = false;
};

int run_backup(const StorageOptions& o) {
  if (o.file.empty()) throw UsageError("backup into which file?");
  auto client = OperatorClient::open(o.server);
  if (!client.ok()) return not_usable("storage", client.error());
  v1::BackupRequest request;
  request.set_path(absolute(o.file));
  v1::BackupResponse answer;
  const bool watched = ::isatty(STDERR_FILENO) == 1;
  auto ended = client->watch("Backup", request, answer, [&] {
    if (!answer.complete() && watched && answer.bytes_total() > 0)
      tell(stderr, mebibytes(answer.bytes_done()) + " of " + mebibytes(answer.bytes_total()));
    return !answer.complete();
  });
  if (!ended.ok()) return failed("storage", ended.error());
  return show(answer, o.format,
              request.path() + ": " + mebibytes(answer.bytes_done()) + ", verified; version " +
                  std::to_string(answer.version()) + " is the newest");
}

int run_verify(const StorageOptions& o) {
  auto client = OperatorClient::open(o.server);
  if (!client.ok()) return not_usable("storage", client.error());
  v1::VerifyRequest request;
  request.set_path(absolute(o.file));
  v1::VerifyResponse answer;
  auto ended = client->watch("Verify", request, answer, [&] { return !answer.complete(); });
  if (!ended.ok()) return failed("storage", ended.error());
  return show(answer, o.format,
              (o.file.empty() ? "the store" : request.path()) +
                  " is whole: " + mebibytes(answer.bytes()) + "; version " +
                  std::to_string(answer.version()) + " is the newest");
}

int run_restore(const StorageOptions& o) {
  if (o.file.empty() || o.configs.empty())
    throw UsageError("restore which file, for the server of which configuration files?");
  return Application(o.configs).restore(absolute(o.file), o.storage);
}

int run_migrate(const StorageOptions& o) {
  if (o.configs.empty()) throw UsageError("migrate the store of which configuration files?");
  return Application(o.configs).migrate(o.storage, o.dry_run);
}

int run_maintain(const StorageOptions& o) {
  v1::MaintainRequest request;
  request.set_dry_run(o.dry_run);
  if (o.retention) request.set_retention_ms(static_cast<uint64_t>(o.retention->count()));
  auto client = OperatorClient::open(o.server);
  if (!client.ok()) return not_usable("storage", client.error());
  auto answer = maintain(*client, request);
  if (!answer.ok()) return failed("storage", answer.error());
  if (o.format != Format::table) return show(*answer, o.format, "");
  std::printf("%s\n", summary(*answer, o.dry_run).c_str());
  return 0;
}

using StorageOptionsPtr = std::shared_ptr<StorageOptions>;

CommandPtr backup_verb(const StorageOptionsPtr& o) {
  auto verb = std::make_shared<Command>(
      "backup", "FILE", "copy the running store into a file on the server's machine",
      [o] { return run_backup(*o); });
  verb->word("FILE", o->file, "the new file; it must not exist yet");
  verb->examples({"davit storage backup /var/backups/davit-$(date +%F).db"});
  return verb;
}

CommandPtr restore_verb(const StorageOptionsPtr& o) {
  auto verb = std::make_shared<Command>(
      "restore", "FILE CONFIG...",
      "make a copy the store of a stopped server, which these configuration files name; the old "
      "store is kept",
      [o] { return run_restore(*o); });
  verb->word("FILE", o->file, "the copy");
  verb->words("CONFIG", o->configs, "the server's files, as for run");
  verb->option("--storage", "NAME", o->storage, "which storage, when they name several");
  verb->examples({"davit storage restore davit.db /etc/davit/server.toml"});
  return verb;
}

CommandPtr verify_verb(const StorageOptionsPtr& o) {
  auto verb = std::make_shared<Command>(
      "verify", "[FILE]", "read all of the store, or of a copy on the server's machine",
      [o] { return run_verify(*o); });
  verb->word("FILE", o->file, "a copy; the store when absent");
  return verb;
}

CommandPtr maintain_verb(const StorageOptionsPtr& o) {
  auto verb = std::make_shared<Command>("maintain", "[--dry-run]",
                                        "remove tombstones that nobody needs any more",
                                        [o] { return run_maintain(*o); });
  verb->flag("--dry-run", o->dry_run, "say what would go, and remove nothing");
  verb->duration("--retention", "7d", o->retention,
                 "keep tombstones at least this long; the server's setting when absent");
  verb->examples({"davit storage maintain --dry-run"});
  return verb;
}

CommandPtr migrate_verb(const StorageOptionsPtr& o) {
  auto verb = std::make_shared<Command>(
      "migrate", "CONFIG... [--dry-run]",
      "before a new davit runs: the schema of the database of these configuration files becomes "
      "the one that it needs",
      [o] { return run_migrate(*o); });
  verb->words("CONFIG", o->configs, "the server's files, as for run");
  verb->flag("--dry-run", o->dry_run, "say what would be done, and change nothing");
  verb->option("--storage", "NAME", o->storage, "which storage, when they name several");
  verb->examples({"davit storage migrate --dry-run /etc/davit/server.toml"});
  return verb;
}

}  // namespace

CommandPtr storage_command() {
  auto o = std::make_shared<StorageOptions>();
  auto command =
      std::make_shared<Command>("storage", "backup|restore|verify|maintain|migrate|copy",
                                "back up, verify, restore, purge, upgrade and move the store");
  add_format(*command, o->format);
  o->server.add_options(*command);
  for (const auto& make : {backup_verb, restore_verb, verify_verb, maintain_verb, migrate_verb})
    command->verb(make(o));
  command->verb(copy_verb(std::shared_ptr<const Format>(o, &o->format)));
  return command;
}

}  // namespace davit::host
