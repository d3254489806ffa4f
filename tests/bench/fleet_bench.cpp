// Thousands of watchers against one server; run.py starts the servers and judges the figures. Each
// command prints one JSON object at its end. WIRE: davit.v1, ctrl.v1, etcd or bare
// (watch_wire.hpp).
//
//   fleet-bench fanout WIRE SERVER TOKEN_FILE STREAMS CONNECTIONS REGIONS WRITER RATE SECONDS
//   STOPPED
//       changes at RATE a second: from the moment each was asked for, and from its answer, until
//       each stream has it; STOPPED streams do not read meanwhile
//   fleet-bench idle   WIRE SERVER TOKEN_FILE STREAMS CONNECTIONS REGIONS
//       opens the streams, says "live" and keeps them until its input ends
//   fleet-bench herd   WIRE SERVER TOKEN_FILE STREAMS CONNECTIONS REGIONS WRITER RATE SECONDS
//       the same under writes; says "live", waits until every stream has been lost and is back, and
//       goes on for SECONDS
//   fleet-bench commits WIRE WRITER REGIONS RATE SECONDS AFTER
//       changes of 1,000 records at RATE a second, with numbers above AFTER and without a stream:
//       how long each took to be answered
//   fleet-bench drain  WIRE SERVER TOKEN_FILE STREAMS COUNT
//       each stream reads COUNT records of one region from cursor 0
//   fleet-bench away   WIRE SERVER TOKEN_FILE WRITER KEYS CHANGES
//       an agent is away while KEYS keys change CHANGES times; how many records does it receive
//       then?
#include <algorithm>
#include <cstdio>
#include <future>
#include <iostream>
#include <map>

#include "commands.hpp"
#include "fleet.hpp"
#include "paced_writer.hpp"

namespace davit::bench {
namespace {

using std::chrono::seconds;

constexpr seconds patience{120};
constexpr size_t changes_max = 2'000'000;

FleetSettings settings(const Arguments& a) {
  FleetSettings s;
  s.server = a.at(1);
  s.token = read_token(a.at(2));
  s.streams = std::stoul(a.at(3));
  if (a.size() > 5) {
    s.connections = std::stoul(a.at(4));
    s.regions = std::stoul(a.at(5));
  }
  return s;
}

void say(const char* word) {
  std::printf("%s\n", word);
  std::fflush(stdout);
}

[[noreturn]] void gave_up(const Fleet& fleet) {
  throw std::runtime_error(std::to_string(fleet.live()) + " of " +
                           std::to_string(fleet.settings().streams) +
                           " streams are live; the last end was: " + fleet.last_end());
}

// When each change came to each stream, and how many streams stand where.
class Deliveries {
 public:
  Deliveries(const PacedWriter& writer, size_t streams) : writer_(writer), counts_(streams) {}
  void take(size_t stream, uint64_t number) {
    const auto now = Clock::now();
    if (!writer_.asked(number)) return;
    const std::lock_guard lock(mutex_);
    ++counts_[stream];
    if (number >= first_) arrivals_.emplace_back(number, now);
  }
  // Changes from this number on are measured.
  void measure_from(uint64_t number) {
    const std::lock_guard lock(mutex_);
    first_ = number;
    arrivals_.clear();
  }
  size_t measured() const {
    const std::lock_guard lock(mutex_);
    return arrivals_.size();
  }
  bool each_has(size_t count) const {
    const std::lock_guard lock(mutex_);
    return std::all_of(counts_.begin(), counts_.end(), [count](size_t c) { return c >= count; });
  }
  // Milliseconds from what `since` says of a change to each of its arrivals, in ascending order. A
  // stream that had it earlier waited for nothing: 0.
  template <class Since>
  std::vector<double> sorted(Since since) const {
    std::vector<double> out;
    const std::lock_guard lock(mutex_);
    for (const auto& [number, when] : arrivals_) {
      if (const std::optional<Clock::time_point> begin = since(number))
        out.push_back(std::max(0.0, milliseconds(when - *begin)));
    }
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  const PacedWriter& writer_;
  mutable std::mutex mutex_;
  std::vector<size_t> counts_;
  std::vector<std::pair<uint64_t, Clock::time_point>> arrivals_;
  uint64_t first_ = 0;
};

template <class Holds>
bool wait_until(Holds holds, seconds limit = patience) {
  for (const auto begin = Clock::now(); !holds();
       std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
    if (Clock::now() - begin > limit) return false;
  }
  return true;
}

// A stream is live when a change that was made after it was opened has come through it.
void make_live(const Fleet& fleet, PacedWriter& writer, const Deliveries& deliveries) {
  const auto begin = Clock::now();
  do {
    if (Clock::now() - begin > patience) gave_up(fleet);
    writer.write_everywhere();
  } while (!wait_until([&] { return deliveries.each_has(1); }, seconds(3)));
}

int fanout(const Arguments& a) {
  const auto wire = watch_wire(a.at(0));
  FleetSettings s = settings(a);
  const double rate = std::stod(a.at(7));
  const auto length = std::stoul(a.at(8));
  s.stopped = std::stoul(a.at(9));
  PacedWriter writer(*wire, a.at(6), s.regions, rate, changes_max);
  Deliveries deliveries(writer, s.streams);
  Fleet fleet(*wire, s, [&](size_t stream, uint64_t number) { deliveries.take(stream, number); });
  fleet.start();
  make_live(fleet, writer, deliveries);
  fleet.stop_reading();
  deliveries.measure_from(writer.written() + 1);
  const uint64_t before = writer.written();
  const auto begin = Clock::now();
  writer.start();
  std::this_thread::sleep_for(seconds(length));
  writer.stop();
  const uint64_t changes = writer.written() - before;
  // Changes go round the regions, and so do the streams.
  const size_t wanted = changes * (s.streams / s.regions);
  const size_t missing_max = s.stopped * (changes / s.regions + 1);
  if (!wait_until([&] { return deliveries.measured() + missing_max >= wanted; }, seconds(30)))
    throw std::runtime_error(std::to_string(deliveries.measured()) + " of " +
                             std::to_string(wanted) + " arrived");
  const auto all = deliveries.sorted([&](uint64_t n) { return writer.asked(n); });
  const auto after_answer = deliveries.sorted([&](uint64_t n) { return writer.answered(n); });
  const auto answers = writer.answers_since(begin);
  std::printf(
      "{\"changes\": %zu, \"deliveries\": %zu, \"messages\": %zu, \"lost\": %zu, "
      "\"failed_writes\": %zu, "
      "\"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f, \"after_answer_p50_ms\": %.3f, "
      "\"after_answer_p99_ms\": %.3f, \"write_p50_ms\": %.3f, "
      "\"write_p99_ms\": %.3f}\n",
      static_cast<size_t>(changes), all.size(), static_cast<size_t>(fleet.messages()), fleet.lost(),
      writer.failures(), quantile(all, 0.5), quantile(all, 0.99), all.empty() ? 0 : all.back(),
      quantile(after_answer, 0.5), quantile(after_answer, 0.99), quantile(answers, 0.5),
      quantile(answers, 0.99));
  return 0;
}

int idle(const Arguments& a) {
  const auto wire = watch_wire(a.at(0));
  Fleet fleet(*wire, settings(a), [](size_t, uint64_t) {});
  fleet.start();
  if (!fleet.wait_all_live(patience)) gave_up(fleet);
  say("live");
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  std::printf("{\"live\": %zu, \"lost\": %zu, \"messages\": %zu}\n", fleet.live(), fleet.lost(),
              static_cast<size_t>(fleet.messages()));
  return 0;
}

int herd(const Arguments& a) {
  const auto wire = watch_wire(a.at(0));
  FleetSettings s = settings(a);
  s.comes_back = true;
  PacedWriter writer(*wire, a.at(6), s.regions, std::stod(a.at(7)), changes_max);
  Deliveries deliveries(writer, s.streams);
  Fleet fleet(*wire, s, [&](size_t stream, uint64_t number) { deliveries.take(stream, number); });
  fleet.start();
  make_live(fleet, writer, deliveries);
  writer.start();
  const auto quiet = Clock::now();
  const seconds length(std::stoul(a.at(8)));
  std::this_thread::sleep_for(length);
  const auto at_rest = writer.answers_since(quiet);
  say("live");
  if (!wait_until([&] { return fleet.lost() > 0; })) throw std::runtime_error("no stream was lost");
  const auto begin = Clock::now();
  if (!wait_until([&] { return fleet.lost() >= s.streams && fleet.live() == s.streams; }))
    gave_up(fleet);
  const double took = seconds_since(begin);
  const auto meanwhile = writer.answers_since(begin);
  // The same stretch for everybody, so that what the servers spent in it can be compared.
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(length + seconds(5)) -
                    (Clock::now() - begin);
  if (rest.count() > 0) std::this_thread::sleep_for(rest);
  say("stretch over");
  writer.stop();
  std::printf(
      "{\"seconds\": %.3f, \"ends\": %zu, \"write_p99_at_rest_ms\": %.3f, \"write_p99_ms\": %.3f, "
      "\"answers\": %zu, \"failed_writes\": %zu}\n",
      took, fleet.lost(), quantile(at_rest, 0.99), quantile(meanwhile, 0.99), meanwhile.size(),
      writer.failures());
  return 0;
}

int commits(const Arguments& a) {
  const auto wire = watch_wire(a.at(0));
  PacedWriter writer(*wire, a.at(1), std::stoul(a.at(2)), std::stod(a.at(3)), changes_max,
                     std::stoul(a.at(5)));
  writer.write_everywhere();  // connects
  const auto begin = Clock::now();
  writer.start();
  std::this_thread::sleep_for(seconds(std::stoul(a.at(4))));
  writer.stop();
  if (writer.failures() > 0) throw std::runtime_error("a write failed: " + writer.last_failure());
  const auto answers = writer.answers_since(begin);
  std::printf("{\"changes\": %zu, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f}\n",
              answers.size(), quantile(answers, 0.5), quantile(answers, 0.99), answers.back());
  return 0;
}

int drain(const Arguments& a) {
  const auto wire = watch_wire(a.at(0));
  FleetSettings s = settings(a);
  s.connections = s.streams;
  const size_t wanted = std::stoul(a.at(4));
  std::vector<std::atomic<size_t>> counts(s.streams);
  std::atomic<size_t> complete{0};
  Fleet fleet(*wire, s, [&](size_t stream, uint64_t) {
    if (++counts[stream] == wanted) ++complete;
  });
  const auto begin = Clock::now();
  fleet.start();
  if (!wait_until([&] { return complete == s.streams; }, seconds(600))) gave_up(fleet);
  std::printf("{\"records\": %zu, \"seconds\": %.6f}\n", wanted * s.streams, seconds_since(begin));
  return 0;
}

// Asks for batches one after the other.
void change(const WatchWire& wire, const std::string& server, uint64_t from, uint64_t to,
            uint64_t keys) {
  constexpr uint64_t batch_max = 500;
  grpc::GenericStub stub(connect(server));
  while (from < to) {
    const uint64_t count = std::min({batch_max, to - from, keys});
    const grpc::ByteBuffer request = wire.write_request(region_name(0), from, count, keys);
    grpc::ByteBuffer answer;
    grpc::ClientContext context;
    std::promise<grpc::Status> done;
    stub.UnaryCall(&context, wire.write_path(), {}, &request, &answer,
                   [&](grpc::Status status) { done.set_value(std::move(status)); });
    const grpc::Status status = done.get_future().get();
    const std::string fault = status.ok() ? wire.write_fault(answer) : status.error_message();
    if (!fault.empty()) throw std::runtime_error("a write failed: " + fault);
    from += count;
  }
}

int away(const Arguments& a) {
  const auto wire = watch_wire(a.at(0));
  Arguments one = {a.at(0), a.at(1), a.at(2), "1"};
  const uint64_t keys = std::stoul(a.at(4)), changes = std::stoul(a.at(5));
  change(*wire, a.at(3), 0, keys, keys);
  std::atomic<uint64_t> newest{0};
  std::atomic<size_t> received{0};
  const auto take = [&](size_t, uint64_t number) {
    ++received;
    newest = std::max<uint64_t>(newest, number);
  };
  Place left;
  {
    Fleet fleet(*wire, settings(one), take);
    fleet.start();
    // The bookmark behind the snapshot says of which incarnation the place is.
    if (!wait_until([&] { return received >= keys && fleet.place(0).incarnation != 0; }))
      gave_up(fleet);
    left = fleet.place(0);
  }
  change(*wire, a.at(3), keys, keys + changes, keys);
  received = 0;
  const auto begin = Clock::now();
  Fleet fleet(*wire, settings(one), take);
  fleet.start(left);
  if (!wait_until([&] { return newest == keys + changes - 1; })) gave_up(fleet);
  const double took = seconds_since(begin);
  std::printf("{\"records\": %zu, \"seconds\": %.6f}\n", received.load(), took);
  return 0;
}

const std::map<std::string, Command> commands = {
    {"fanout", {10, fanout}},  {"idle", {6, idle}},   {"herd", {9, herd}},
    {"commits", {6, commits}}, {"drain", {5, drain}}, {"away", {6, away}}};

}  // namespace
}  // namespace davit::bench

int main(int argc, char** argv) {
  return davit::bench::run(davit::bench::commands, argc, argv);
}
