// Every file in departures/ is one story of one kind. The commands:
//
//   snapshot 20           a stream begins with a snapshot of incarnation 1, at version 20
//   tail 2 25             a stream goes on, in incarnation 2, which began at version 25
//   apply web d_1 10      a change: name, id, version
//   remove web d_1 12     a delete; the name "-" says that another record has the name
//   end 1                 the snapshot ends; the peer has named one live record
//   silence               a peer that ends no snapshot has been silent for long
//   object web d_1 10     the cluster shows an object of this name, with these stamps
//   stranger web          the cluster shows an object of this name that belongs to somebody else
//   vanish web            the cluster has no object of this name any more
//   applied web           a reconciliation has applied the record of this name
//   removed web           a reconciliation has removed all objects of the record and said so
//   arrivals, resync      what has come since the snapshot was judged is judged
//
// What they print:
//
//   gone d_1 12 web       the record is reported as gone, of this version; "-": without its name
//   look at web           the next reconciliation of the record of this name decides
//   remove web as of 20   the objects are removed: the record was deleted, at this version at
//   latest orphan web            the objects are left alone, and shown release web           the
//   record of this name is not named, and nothing is to be judged refused               the share
//   of what would go is too large, or the count is wrong
#include "departures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include <davit/testing/scenario.hpp>

#include "observed.hpp"

namespace davit::applier {
namespace {

class DepartureCommands {
 public:
  std::string run(const std::string& line) {
    words_ = std::istringstream(line);
    out_.clear();
    const std::string command = word();
    if (command == "snapshot") {
      begin({true, {1, Version(number())}, {}});
    } else if (command == "tail") {
      const Incarnation incarnation(number());
      begin({false, {incarnation, Version(number())}, {}});
    } else if (command == "apply") {
      change(sink::ChangeType::apply);
    } else if (command == "remove") {
      change(sink::ChangeType::remove);
    } else if (command == "end") {
      end(number(), false);
    } else if (command == "silence") {
      end(std::nullopt, true);
    } else if (command == "resync") {
      if (const auto found = departures_.judge_again(desired_, rules_)) carry_out(*found);
    } else if (command == "arrivals") {
      if (const auto found = departures_.judge_arrivals(desired_, rules_)) prune(*found);
    } else {
      in_the_cluster(command);
    }
    return out_;
  }

 private:
  std::string word() {
    std::string out;
    if (!(words_ >> out)) throw std::runtime_error("a word is missing");
    return out;
  }
  uint64_t number() { return std::stoull(word()); }
  RecordEntry& entry() { return desired_.at("acme", word()); }
  RecordEntry& numbered(uint64_t number) { return *desired_.find(number); }
  void say(const std::string& line) { out_ += line + "\n"; }
  void report(const std::vector<GoneRecord>& records) {
    for (const GoneRecord& r : records)
      say("gone " + r.id + " " + to_string(r.version) + " " + (r.name.empty() ? "-" : r.name));
  }

  void begin(sink::Begin begin) {
    if (begin.snapshot) begin.history = {begin.at};
    const bool other = desired_.begin(begin.snapshot, begin.at.incarnation);
    history_ = begin.snapshot ? begin.history : continued(history_, begin.history, begin.at);
    at_ = begin.at;
    departures_.begin(begin, other);
    if (!begin.snapshot && other) report(departures_.to_report_again(desired_));
  }
  void change(sink::ChangeType type) {
    sink::Change change;
    change.type = type;
    const std::string name = word();
    if (name != "-") change.ns = "acme", change.name = name;
    change.key.id = word();
    change.version = Version(number());
    if (departures_.keep(change, desired_)) {
      if (departures_.judged()) confirm();
      return;
    }
    at_.version = std::max(at_.version, change.version);
    departures_.reach(at_);
    desired_.accept(change);
  }
  void end(std::optional<uint64_t> live, bool quiet) {
    sink::Bookmark bookmark;
    bookmark.at = at_;
    bookmark.live_count = live;
    bookmark.quiet = quiet;
    departures_.end(bookmark, history_, desired_.counted());
    carry_out(departures_.judge(desired_, rules_));
  }

  void in_the_cluster(const std::string& command) {
    RecordEntry& of = entry();
    const std::string path = "/things/acme/" + of.name;
    if (command == "object") {
      const std::string id = word();
      observed_.put(0, path, text(id, Version(number())), std::to_string(++events_), {&of});
    } else if (command == "stranger") {
      observed_.put(0, path, std::make_shared<const std::string>("{}"), std::to_string(++events_),
                    {&of}, true);
    } else if (command == "vanish") {
      observed_.remove(path, std::to_string(++events_));
      if (of.intent == Intent::unknown || of.intent == Intent::orphan) depart(of);
    } else if (command == "applied") {
      of.state = RecordEntry::State::settled;
      report(departures_.replaced(of, desired_));
    } else if (command == "removed") {
      departures_.reported({of.id, of.ns, of.name, std::max(of.version, of.pruned_at)});
      erase(of);
    } else {
      throw std::runtime_error("unknown command");
    }
  }
  Text text(const std::string& id, Version version) const {
    return std::make_shared<const std::string>(
        R"({"metadata":{"labels":{"davit.dev/region":"eu"},"annotations":{"davit.dev/id":")" + id +
        R"(","davit.dev/incarnation":")" + to_string(at_.incarnation) +
        R"(","davit.dev/version":")" + to_string(version) + "\"}}}");
  }

  // --- what the hub does
  void carry_out(const Departures::Judgement& found) {
    for (const uint64_t number : found.released) {
      RecordEntry& of = numbered(number);
      say("release " + of.name);
      of.intent = Intent::unknown;
      if (of.objects.empty()) depart(of);
    }
    prune(found);
    confirm();
  }
  void prune(const Departures::Judgement& found) {
    if (!found.decision.refusal.empty()) say("refused");
    std::set<std::string> lines;  // their order has no meaning
    for (const uint64_t number : found.decision.remove) {
      RecordEntry& of = numbered(number);
      if (of.id.empty()) desired_.identify(of, Departures::id_in_stamps(of));
      of.intent = Intent::remove;
      of.pruned_at = found.as_of;
      lines.insert("remove " + of.name + " as of " + to_string(found.as_of));
    }
    for (const auto& orphan : found.decision.orphans) {
      numbered(orphan.entry).intent = Intent::orphan;
      lines.insert("orphan " + numbered(orphan.entry).name);
    }
    for (const auto& line : lines) say(line);
  }
  void confirm() {
    const auto found = departures_.confirm(desired_);
    report(found.gone);
    for (const uint64_t number : found.look_at) say("look at " + numbered(number).name);
  }
  void depart(RecordEntry& of) {
    if (const auto record = departures_.departed(of, desired_)) report({*record});
    erase(of);
  }
  void erase(RecordEntry& of) {
    report(departures_.erased(of, desired_));
    desired_.erase(of);
  }

  std::istringstream words_;
  std::string out_;
  const PruneRules rules_{false, 50, 2};
  RecordTable desired_{0, 1};
  Observed observed_{1};
  Departures departures_{std::vector<bool>{true}};
  History history_;
  Cursor at_;
  uint64_t events_ = 0;
};

class DepartureStory : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(DepartureStory, GoesAsTold) {
  DepartureCommands departures;
  EXPECT_EQ(
      testing::play(GetParam(), [&](const std::string& line) { return departures.run(line); }), "");
}

INSTANTIATE_TEST_SUITE_P(Files, DepartureStory,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/departures")),
                         testing::StoryName());

}  // namespace
}  // namespace davit::applier
