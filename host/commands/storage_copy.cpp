#include "storage_copy.hpp"

#include <unistd.h>

#include <davit/storage_intents.hpp>

#include "assembly/application.hpp"
#include "davit.hpp"
#include "exit_codes.hpp"
#include "store_copy.hpp"

namespace davit::host {
namespace {

struct CopyOptions {
  std::vector<std::string> from, to;
  std::string from_storage, to_storage;
  bool finish = false, dry_run = false;
  std::shared_ptr<const Format> format;
};

std::string words(const std::vector<std::string>& files, const char* option) {
  std::string out;
  for (const std::string& file : files) out += std::string(" ") + option + " " + file;
  return out;
}
std::string list(const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& file : files) out += (out.empty() ? "" : " ") + file;
  return out;
}
std::string count_of(uint64_t n, const std::string& one, const std::string& many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}
std::string contents(uint64_t records, uint64_t statuses) {
  return count_of(records, "record", "records") + " and " +
         count_of(statuses, "status", "statuses");
}

// One of the two stores: an instance of a configuration.
class End {
 public:
  explicit End(const std::vector<std::string>& files) : files_(files), application_(files) {}

  // False: a fault of the configuration, which has been printed.
  bool prepare(const std::string& storage) {
    const auto found = application_.prepare_storage(storage);
    if (found) name_ = *found;
    return found.has_value();
  }
  bool is(const End& other) const {
    return application_.has_same(name_, other.application_, other.name_);
  }
  std::optional<storage::Moves> moves() const {
    const auto ref = application_.offer(name_, DAVIT_STORAGE_MOVE);
    return ref ? std::optional<storage::Moves>(*ref) : std::nullopt;
  }
  std::optional<storage::Intents> intents() const {
    const auto ref = application_.offer(name_, DAVIT_STORAGE_INTENTS);
    return ref ? std::optional<storage::Intents>(*ref) : std::nullopt;
  }
  storage::Client store() const { return application_.store(name_); }
  Result<> start() {
    auto r = application_.start_only(name_, Operation());
    started_ = r.ok();
    return in_files(r);
  }
  Result<> stop() {
    if (!std::exchange(started_, false)) return {};
    return in_files(application_.stop_started());
  }
  ~End() { (void)stop(); }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  Result<> in_files(const Result<>& r) const {
    if (r.ok()) return {};
    Error out = r.error().in(list(files_));
    out.where.clear();  // the message names it
    return out;
  }
  Error no_move(const std::string& why) const {
    return {Code::unimplemented, list(files_) + ": storage \"" + name_ + "\" " + why};
  }

 private:
  const std::vector<std::string> files_;
  Application application_;
  std::string name_;
  bool started_ = false;
};

class Move {
 public:
  explicit Move(const CopyOptions& o)
      : o_(o),
        from_(o.from),
        to_(o.to),
        copy_({}, [this](auto& counts, const Head& head) { tell_progress(counts, head); }) {}

  int run() {
    if (!from_.prepare(o_.from_storage) || !to_.prepare(o_.to_storage)) return exit_refused;
    const Result<> done = work();
    if (!done.ok()) return failed("storage copy", done.error());
    return differs_ ? exit_code_failed : exit_code_done;
  }

 private:
  Result<> work();
  Result<> open_source();
  Result<> look_for_intents();
  Result<> open_target();
  Result<> look();
  Result<> pass();
  Result<> complete();
  void tell_progress(const StoreCopy::Counts& counts, const Head& head) const;
  void say_next(const StoreCopy::Counts& counts) const;
  void say_completed(const StoreCopy::Completed& done);
  std::string command(const std::string& more) const {
    return "davit storage copy" + words(o_.from, "--from") + words(o_.to, "--to") + more;
  }

  const CopyOptions& o_;
  End from_, to_;
  StoreCopy copy_;
  CopyPlace place_;
  std::optional<StoreCopy::Target> target_;
  bool differs_ = false;
};

Result<> Move::work() {
  if (from_.is(to_)) return Error{Code::failed_precondition, "both sides name the same store"};
  if (auto r = open_source(); !r.ok()) return r;
  if (auto r = o_.finish ? look_for_intents() : Result<>(); !r.ok()) return r;
  if (o_.dry_run) return look();
  if (auto r = open_target(); !r.ok()) return r;
  if (auto r = o_.finish ? complete() : pass(); !r.ok()) return r;
  if (auto r = to_.stop(); !r.ok()) return r;
  return from_.stop();
}

Result<> Move::open_source() {
  if (const auto moves = from_.moves()) {
    if (auto r = from_.in_files(moves->observe(o_.finish)); !r.ok()) return r;
  }
  auto started = from_.start();
  if (!started.ok() && o_.finish && started.error().code == Code::unavailable)
    return started.error().in("the server of the source must be stopped for --finish");
  if (!started.ok()) return started;
  copy_ = StoreCopy(from_.store(),
                    [this](auto& counts, const Head& head) { tell_progress(counts, head); });
  auto head = from_.store().head();
  if (!head.ok()) return from_.in_files(head.error());
  if (head->head.version || head->status_head) return {};
  return from_.in_files(
      Error{Code::failed_precondition, "the store is empty: there is nothing to copy"});
}

// Intents are no part of a copy, and an open one would never be carried out.
Result<> Move::look_for_intents() {
  const auto intents = from_.intents();
  if (!intents) return {};
  const auto open = intents->open(Op(), 0, 1);
  if (!open.ok()) return from_.in_files(open.error());
  if (open->empty()) return {};
  return from_.in_files(Error{
      Code::failed_precondition,
      "intent " + std::to_string(open->front().id) +
          " is open, and intents are not copied: let a server carry them out, or delete them"});
}

// What the target has of another history, or of one that was purged since, is no beginning of this
// copy.
Result<> Move::open_target() {
  const auto moves = to_.moves();
  if (!moves) return to_.no_move("takes no copy: its plugin does not offer " DAVIT_STORAGE_MOVE);
  auto note = moves->begin();
  if (!note.ok()) return to_.in_files(note.error());
  place_ = CopyPlace::parse(*note).value_or(CopyPlace());
  auto goes_on = note->empty() ? Result<bool>(true) : copy_.continues(place_);
  if (!goes_on.ok()) return goes_on.error();
  if (!*goes_on) {
    tell(stderr, "the copy that was begun is not of what the source has now: it begins anew");
    place_ = {};
    note = moves->begin({.anew = true});
    if (!note.ok()) return to_.in_files(note.error());
  }
  if (auto r = to_.start(); !r.ok()) return r;
  target_.emplace(StoreCopy::Target{to_.store(), *moves});
  return {};
}

Result<> Move::look() {
  const auto moves = to_.moves();
  if (!moves) return to_.no_move("takes no copy: its plugin does not offer " DAVIT_STORAGE_MOVE);
  auto note = moves->begin({.look = true});
  if (!note.ok()) return to_.in_files(note.error());
  place_ = CopyPlace::parse(*note).value_or(CopyPlace());
  auto goes_on = copy_.continues(place_);
  if (!goes_on.ok()) return goes_on.error();
  if (!*goes_on) place_ = {};
  const auto limits = to_.store().limits();
  auto counts = copy_.catch_up(place_, limits.ok() ? *limits : storage::Limits(), nullptr);
  if (!counts.ok()) return counts.error();
  if (*o_.format != Format::table) {
    print({{"dry_run", true}, {"records", counts->records}, {"statuses", counts->statuses}},
          *o_.format);
    return {};
  }
  tell(stdout,
       "would copy " + contents(counts->records, counts->statuses) + "; nothing was changed");
  return {};
}

Result<> Move::pass() {
  auto limits = target_->store.limits();
  if (!limits.ok()) return to_.in_files(limits.error());
  auto counts = copy_.catch_up(place_, *limits, &*target_);
  if (!counts.ok()) return counts.error();
  say_next(*counts);
  return {};
}

Result<> Move::complete() {
  auto limits = target_->store.limits();
  if (!limits.ok()) return to_.in_files(limits.error());
  auto counts = copy_.catch_up(place_, *limits, &*target_);
  if (!counts.ok()) return counts.error();
  auto done = copy_.complete(place_, *target_);
  if (!done.ok()) return done.error();
  say_completed(*done);
  return {};
}

void Move::tell_progress(const StoreCopy::Counts& counts, const Head& head) const {
  if (::isatty(STDERR_FILENO) != 1) return;
  tell(stderr, contents(counts.records, counts.statuses) + ", at version " +
                   to_string(place_.records.version) + " of " + to_string(head.head.version));
}

void Move::say_next(const StoreCopy::Counts& counts) const {
  if (*o_.format != Format::table)
    return print({{"complete", false},
                  {"records", counts.records},
                  {"statuses", counts.statuses},
                  {"version", place_.records.version.value()},
                  {"next", command(" --finish")}},
                 *o_.format);
  tell(stdout, "copied " + contents(counts.records, counts.statuses) + ", up to version " +
                   to_string(place_.records.version) +
                   "; the copy is not complete, and no server starts on it");
  tell(stdout, "next:");
  tell(stdout, "  1. repeat this command just before the last step: it copies what is new");
  tell(stdout, "  2. stop the server of " + list(o_.from));
  tell(stdout, "  3. " + command(" --finish"));
}

void Move::say_completed(const StoreCopy::Completed& done) {
  differs_ = !done.difference.empty();
  if (*o_.format != Format::table) {
    boost::json::object out{{"complete", !differs_},
                            {"records", done.counts.records},
                            {"statuses", done.counts.statuses},
                            {"agents", done.counts.agents},
                            {"version", done.head.head.version.value()},
                            {"source_sha256", done.source_digest},
                            {"copy_sha256", done.copy_digest}};
    if (differs_) out["difference"] = done.difference;
    return print(out, *o_.format);
  }
  if (differs_) {
    tell(stdout, "the copy differs: " + done.difference);
    tell(stdout, "it is not complete, and no server starts on it; remove it to begin anew");
    return;
  }
  tell(stdout, "source " + done.source_digest);
  tell(stdout, "copy   " + done.copy_digest +
                   ", the same: " + contents(done.counts.records, done.counts.statuses) + ", " +
                   count_of(done.counts.agents, "agent", "agents"));
  tell(stdout, "complete: version " + to_string(done.head.head.version) + " is the newest");
  tell(stdout,
       "next: start the server with " + list(o_.to) + ", and never again with " + list(o_.from));
}

}  // namespace

CommandPtr copy_verb(std::shared_ptr<const Format> format) {
  auto o = std::make_shared<CopyOptions>();
  o->format = std::move(format);
  auto verb = std::make_shared<Command>(
      "copy", "--from CONFIG --to CONFIG [--finish]",
      "move a server's store into a new one: first while the server runs, then with --finish", [o] {
        if (o->from.empty()) throw UsageError("copy from which configuration file?");
        if (o->to.empty()) throw UsageError("copy to which configuration file?");
        if (o->finish && o->dry_run) throw UsageError("--finish and --dry-run exclude each other");
        return Move(*o).run();
      });
  verb->options("--from", "FILE", o->from,
                "the files of the server that has the store, as for run");
  verb->options("--to", "FILE", o->to, "the files of the server that will have the copy");
  verb->option("--from-storage", "NAME", o->from_storage, "which storage, when --from has several");
  verb->option("--to-storage", "NAME", o->to_storage, "which storage, when --to has several");
  verb->flag("--finish", o->finish,
             "with the source's server stopped: copy the rest, compare both, complete the copy");
  verb->flag("--dry-run", o->dry_run, "say what would be copied, and change nothing");
  verb->examples({"davit storage copy --from /etc/davit/server.toml --to /etc/davit/new.toml",
                  "davit storage copy --from /etc/davit/server.toml --to /etc/davit/new.toml "
                  "--finish"});
  return verb;
}

}  // namespace davit::host
