// A hostile agent of one region, with a valid token: each of its habits does one thing that a token
// allows, as fast as the server answers. hostile.py measures another region's agent meanwhile.
//
//   hostile-bench flood SERVER TOKEN_FILE REGION RECORDS HABIT
//       HABIT: one of the names below, or "all";
//       says "flooding" when each habit has begun, goes on until its input ends, and prints the
//       calls that ended, by habit; RECORDS: how many deployments the region has
#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "davit/v1/agent.pb.h"
#include "hostile_connection.hpp"
#include "wire.hpp"

namespace davit::bench {
namespace {

constexpr size_t request_bytes_max = 4 << 20;
constexpr const char* watch_path = "/davit.v1.AgentService/Watch";
constexpr const char* report_path = "/davit.v1.AgentService/Report";
constexpr const char* progress_path = "/davit.v1.AgentService/Progress";

// As large as a report may be. Each is newer than the one before, so all of it is to be written.
std::string largest_report(uint64_t call, size_t records, const char* id) {
  constexpr size_t statuses = 10'000;
  v1::ReportRequest request;
  for (size_t i = 0; i < statuses; ++i) {
    auto* s = request.add_statuses();
    s->set_kind("deployment");
    s->set_id(id + std::to_string(i % records));
    s->set_health("progressing");
    s->set_message(std::string(320, 'x'));
    s->set_epoch(1);
    s->set_sequence(call * statuses + i + 1);
  }
  return request.SerializeAsString();
}

// Of sixteen agents, where a region has place for eight.
std::string largest_progress(uint64_t call) {
  constexpr size_t issues = 2'000;
  v1::ProgressRequest request;
  request.set_agent("evil-" + std::to_string(call % 16));
  for (size_t i = 0; i < issues; ++i) {
    auto* issue = request.add_issues();
    issue->set_kind("deployment");
    issue->set_id("d" + std::to_string(i));
    issue->set_condition("parked");
    issue->set_reason(std::string(1'500, 'x'));
  }
  return request.SerializeAsString();
}

std::string watch_everything() {
  v1::WatchRequest request;
  request.add_subscriptions()->set_kind("deployment");
  request.set_agent("evil");
  return request.SerializeAsString();
}

// As many messages of no content as a request has room for.
std::string hollow_report() {
  std::string out;
  while (out.size() + 2 <= request_bytes_max) out.append("\x0a\x00", 2);
  return out;
}

std::vector<Habit> habits(size_t records) {
  const auto always = [](std::string message) {
    return [message = std::move(message)](uint64_t) { return message; };
  };
  return {
      {"largest reports", report_path, 8, Until::answered,
       [records](uint64_t n) { return largest_report(n, records, "d"); }},
      {"statuses of nothing", report_path, 8, Until::answered,
       [](uint64_t n) { return largest_report(n, 10'000, "nothing"); }},
      {"hollow reports", report_path, 4, Until::answered, always(hollow_report())},
      {"malformed reports", report_path, 100, Until::answered, always(std::string(1'000, '\xff'))},
      {"largest progress", progress_path, 8, Until::answered, &largest_progress},
      {"small progress", progress_path, 100, Until::answered,
       [](uint64_t n) {
         v1::ProgressRequest request;
         request.set_agent("evil-" + std::to_string(n % 16));
         return request.SerializeAsString();
       }},
      {"watches that are cut", watch_path, 100, Until::message, always(watch_everything())},
      {"watches that are not read", watch_path, 100, Until::never_read, always(watch_everything())},
      {"many streams", watch_path, 1'000, Until::ever, always(watch_everything())},
  };
}

int flood(const Arguments& a) {
  const std::string token = read_token(a.at(1));
  std::vector<Habit> all = habits(std::stoul(a.at(3)));
  if (a.at(4) != "all") std::erase_if(all, [&](const Habit& h) { return h.name != a.at(4); });
  if (all.empty()) throw std::runtime_error("there is no habit \"" + a.at(4) + "\"");
  std::atomic<bool> over{false};
  std::atomic<size_t> begun{0};
  std::vector<HabitCounts> counts(all.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < all.size(); ++i) {
    threads.emplace_back([&, i] {
      while (!over) {
        // A server may close it for what it does: it comes back.
        HostileConnection connection(a.at(0), token, a.at(2), all[i], counts[i]);
        if (counts[i].connections++ == 0) ++begun;
        connection.run(over);
      }
    });
  }
  while (begun < all.size()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::printf("flooding\n");
  std::fflush(stdout);
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  over = true;
  for (auto& thread : threads) thread.join();
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) {
    out += (out.empty() ? "{\"" : ", \"") + all[i].name + "\": " + std::to_string(counts[i].ended);
  }
  std::printf("%s}\n", out.c_str());
  return 0;
}

const std::map<std::string, Command> commands = {{"flood", {5, flood}}};

}  // namespace
}  // namespace davit::bench

int main(int argc, char** argv) {
  return davit::bench::run(davit::bench::commands, argc, argv);
}
