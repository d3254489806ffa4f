// The clients of the torture: writers, readers, and at the end the audit. torture.py starts the
// server, kills it again and again, and says when to come to rest.
//
//   server-torture SERVERS TOKEN_FILE OPERATOR_SOCKETS DATABASE SEED PATIENCE REGIONS NAMES
//                  PAUSE_MS FILLER WRITERS
//
// SERVERS, OPERATOR_SOCKETS: lists with commas, of servers that do the same. DATABASE: a file of
// SQLite, a connection string of PostgreSQL (then some writers insert intents), or "": it is not
// looked into. PAUSE_MS: a writer's longest pause between two calls. FILLER: bytes that make a
// deployment larger. Reads lines: "rest": write no more, catch up and judge. Says five times a second
// how many commits were acknowledged ("commits 1234"). Prints its figures and every fault with the
// story of the name concerned; the last line says what was lost. Ends with 0 when nothing is wrong,
// with 3 when writes were lost, else with 1.
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "audit.hpp"
#include "reader.hpp"
#include "store.hpp"
#include "writers.hpp"

namespace davit::torture {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t stories_max = 10;
constexpr seconds rest_within{120};
constexpr uint64_t figures_min = 50;
constexpr int writes_lost = 3;  // the exit code

const Habits quick{"quick", milliseconds(1500), milliseconds(6000), {}, {}, true};
const Habits slow{"slow", milliseconds(2000), milliseconds(6000), {}, milliseconds(60), true};
const Habits away{"away", milliseconds(300), milliseconds(1500), milliseconds(6000), {}, false};

std::vector<std::unique_ptr<Reader>> readers_of(Course& course, unsigned regions) {
  std::vector<std::unique_ptr<Reader>> readers;
  for (unsigned n = 0; n < regions; ++n) {
    const std::string region = "r" + std::to_string(n);
    const auto add = [&](Wire wire, const std::vector<std::string>& kinds, const Habits& habits) {
      readers.push_back(std::make_unique<Reader>(course, region, wire, kinds, habits));
    };
    const std::string first = kinds()[0].name, second = kinds()[1].name;
    for (const auto& habits : {quick, slow, away}) add(Wire::davit_v1, {first, second}, habits);
    for (const auto& habits : {quick, slow, away}) add(Wire::ctrl_v1, {first}, habits);
    add(Wire::ctrl_v1, {second}, quick);
  }
  return readers;
}

// Waits for "rest", or until something is wrong. False: there is no need to go on.
bool wait_for_rest(const Course& course, const Writers& writers) {
  while (course.faults().empty()) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, 200) <= 0) {
      std::printf("commits %llu\n", static_cast<unsigned long long>(writers.commits()));
      std::fflush(stdout);
      continue;
    }
    char line[16] = {};
    const ssize_t size = read(STDIN_FILENO, line, sizeof line - 1);
    return size > 0 && std::string(line).rfind("rest", 0) == 0;
  }
  return false;
}

std::map<std::string, uint64_t> goals_of(const Journal& journal, const std::string& region) {
  std::map<std::string, uint64_t> goals;
  for (const auto& [topic, names] : journal) {
    if (topic.region != region) continue;
    for (const auto& [name, writes] : names) {
      for (const auto& w : writes) goals[topic.kind] = std::max(goals[topic.kind], w.version);
    }
  }
  return goals;
}

class Torture {
 public:
  Torture(Place place, unsigned regions, unsigned names)
      : course_(std::move(place)),
        writers_(course_, regions, names),
        readers_(readers_of(course_, regions)) {}

  int run() {
    std::vector<std::thread> writing, reading;
    for (unsigned n = 0; n < course_.place.writers; ++n)
      writing.emplace_back([this, n] { writers_.run(n); });
    for (unsigned n = 0; n < readers_.size(); ++n)
      reading.emplace_back([this, n] { readers_[n]->run(n); });
    const auto begin = bench::Clock::now();
    const bool rests = wait_for_rest(course_, writers_);
    course_.over = !rests;
    course_.writing = false;
    for (auto& thread : writing) thread.join();
    written_in_ = std::chrono::duration<double>(bench::Clock::now() - begin).count();
    journal_ = writers_.take_journal();
    if (rests) bring_to_rest();
    course_.over = true;
    for (auto& thread : reading) thread.join();
    const bool right = judge(rests);
    const bool enough = show_figures();
    if (right && rests && enough) return 0;
    return lost_ > 0 ? writes_lost : 1;
  }

 private:
  // Nobody writes any more: everybody gets as far as the last write of its region.
  void bring_to_rest() {
    for (auto& reader : readers_) reader->goals(goals_of(journal_, reader->region()));
    course_.resting = true;
    const auto until = bench::Clock::now() + rest_within * course_.place.patience;
    for (const auto& reader : readers_) {
      while (!reader->arrived() && bench::Clock::now() < until && course_.faults().empty())
        std::this_thread::sleep_for(milliseconds(20));
      if (!reader->arrived() && course_.faults().empty())
        course_.fault({"did not catch up at rest", {{}, reader->region()}, {}, reader->name()});
    }
  }

  // A run that was cut short is judged as far as it went, but for the store, which did not rest.
  bool judge(bool rests) {
    Audit audit(journal_);
    audit.writes();
    const bool looks = rests && !course_.place.database.empty();
    if (looks) {
      stored_ = read_store(course_.place.database);
      audit.store(stored_);
    }
    for (const auto& reader : readers_) {
      for (const auto& [kind, line] : reader->lines()) {
        const Topic topic{kind, reader->region()};
        // While writes are under way, not all of what was sent is known to have been written.
        if (rests) audit.reader(reader->name(), topic, line.steps());
        if (looks && reader->arrived()) audit.rest(reader->name(), topic, line.objects(), stored_);
      }
    }
    lost_ = audit.lost();
    std::vector<Fault> faults = course_.faults();
    faults.insert(faults.end(), audit.faults().begin(), audit.faults().end());
    for (size_t i = 0; i < faults.size() && i < stories_max; ++i)
      std::printf("%s", audit.story(faults[i], steps_of(faults[i])).c_str());
    if (!faults.empty()) std::printf("%zu faults\n", faults.size());
    return faults.empty();
  }

  Steps steps_of(const Fault& fault) const {
    for (const auto& reader : readers_) {
      const auto line = reader->lines().find(fault.topic.kind);
      if (reader->name() == fault.reader && line != reader->lines().end())
        return line->second.steps();
    }
    return {};
  }

  // False: too little happened for the verdict to mean anything.
  bool show_figures() const {
    uint64_t records = 0, streams = 0, snapshots = 0, refusals = 0;
    for (const auto& reader : readers_) {
      records += reader->records;
      streams += reader->streams;
      refusals += reader->refusals;
      for (const auto& [kind, line] : reader->lines()) snapshots += line.snapshots();
    }
    std::printf(
        "%llu writes acknowledged, %llu of them intents (calls repeated: %llu), %llu records "
        "delivered to %zu readers in "
        "%llu streams, %llu snapshots, %llu out of range, purged through %llu of %llu\n",
        count(writers_.written()), count(writers_.intents()), count(writers_.repeated()),
        count(records), readers_.size(), count(streams), count(snapshots), count(refusals),
        count(stored_.purged_through), count(stored_.head));
    const bool enough = writers_.written() >= figures_min && records >= figures_min;
    if (!enough) std::printf("hardly anything was written or read\n");
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const double commits = static_cast<double>(writers_.commits());
    std::printf(
        "%zu of %llu writes lost; %llu commits of %u writers in %.0f s, %.0f/s; the clients took "
        "%ld "
        "MiB\n",
        lost_, count(writers_.written()), count(writers_.commits()), course_.place.writers,
        written_in_, commits / written_in_, used.ru_maxrss / 1024);
    return enough;
  }
  static unsigned long long count(uint64_t n) { return n; }

  Course course_;
  Writers writers_;
  std::vector<std::unique_ptr<Reader>> readers_;
  Journal journal_;
  Stored stored_;
  double written_in_ = 0;  // seconds
  size_t lost_ = 0;
};

std::vector<std::string> list(const std::string& text, const std::string& prefix) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) out.push_back(prefix + item);
  return out;
}

int run(int argc, char** argv) {
  if (argc != 12) {
    std::fprintf(stderr, "usage: see the head of torture.cpp\n");
    return 2;
  }
  Place place;
  place.servers = list(argv[1], "");
  std::ifstream(argv[2]) >> place.token;
  place.operators = list(argv[3], "unix:");
  place.database = argv[4];
  const auto number = [&](int n) { return static_cast<unsigned>(std::stoul(argv[n])); };
  place.seed = number(5);
  place.patience = number(6);
  place.pause_max = milliseconds(number(9));
  place.filler = number(10);
  place.writers = number(11);
  return Torture(std::move(place), number(7), number(8)).run();
}

}  // namespace
}  // namespace davit::torture

int main(int argc, char** argv) {
  try {
    return davit::torture::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "server-torture: %s\n", e.what());
    return 1;
  }
}
