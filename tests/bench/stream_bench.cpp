// The streaming half of the measurements; run.py starts the servers and judges the figures.
//
//   stream-bench seed      OPERATOR REGIONS FROM TO BYTES
//                          commits the deployments FROM to TO - 1, in turn to each of REGIONS,
//                          which are separated by commas
//   stream-bench report    SERVER TOKEN_FILE REGION FROM TO
//                          reports a status of each of these deployments, with two pods
//   stream-bench bootstrap PROTOCOL SERVER TOKEN_FILE REGION COUNT
//                          reads COUNT records from cursor 0
//   stream-bench receipt   PROTOCOL SERVER TOKEN_FILE REGION OPERATOR COUNT PAUSE_MS
//                          commits COUNT changes one by one and takes the time until each has
//                          arrived
//   stream-bench neighbour (the same)
//                          the same, and after each change reports a status of it
//
// Prints one JSON object. Times of `receipt` begin before the commit is asked for, so they include
// it.
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "ctrl/v1/cluster.pb.h"
#include "davit/v1/agent.pb.h"
#include "davit/v1/operator.pb.h"
#include "wire.hpp"

namespace davit::bench {
namespace {

std::string spec(const std::string& id, size_t bytes) {
  std::string json =
      R"({"k8s_namespace":"bench","k8s_name":"b)" + id +
      R"(","workspace_id":"ws_1","project_id":"proj_1","environment_id":"env_1","deployment_id":"d)" +
      id + R"(","image":"registry.example/app:1","replicas":1,"cpu_millicores":"100",)" +
      R"("memory_mib":"64","port":8080,"git_commit_message":")";
  json.append(bytes > json.size() ? bytes - json.size() : 1, 'x');
  return json + "\"}";
}

void apply(const std::shared_ptr<grpc::Channel>& channel, const std::vector<std::string>& regions,
           size_t from, size_t to, size_t bytes) {
  davit::v1::ApplyRequest request;
  for (size_t i = from; i < to; ++i) {
    auto* document = request.add_documents();
    document->set_kind("deployment");
    document->set_region(regions[i % regions.size()]);
    document->set_spec_json(spec(std::to_string(i), bytes));
  }
  const auto response =
      call<davit::v1::ApplyResponse>(channel, "/davit.v1.OperatorService/Apply", request);
  for (const auto& outcome : response.outcomes()) {
    if (outcome.code() != 0) throw std::runtime_error(outcome.id() + ": " + outcome.message());
  }
}

int seed(const Arguments& a) {
  const auto channel = connect(a.at(0));
  std::vector<std::string> regions;
  std::istringstream names(a.at(1));
  for (std::string region; std::getline(names, region, ',');) regions.push_back(region);
  const size_t from = std::stoul(a.at(2)), to = std::stoul(a.at(3)), bytes = std::stoul(a.at(4));
  const auto begin = Clock::now();
  for (size_t i = from; i < to; i += 500) apply(channel, regions, i, std::min(to, i + 500), bytes);
  std::printf("{\"records\": %zu, \"seconds\": %.6f}\n", to - from, seconds_since(begin));
  return 0;
}

davit::v1::Status* add_status(davit::v1::ReportRequest& request, size_t id) {
  auto* status = request.add_statuses();
  status->set_kind("deployment");
  status->set_id("d" + std::to_string(id));
  status->set_health("progressing");
  status->set_epoch(1);
  status->set_sequence(1);
  return status;
}

void report(const std::shared_ptr<grpc::Channel>& channel, const std::string& token,
            const std::string& region, const davit::v1::ReportRequest& request) {
  const auto answer = call<davit::v1::ReportResponse>(channel, "/davit.v1.AgentService/Report",
                                                      request, token, region);
  if (answer.refusals_size() > 0) throw std::runtime_error(answer.refusals(0).message());
}

int report_all(const Arguments& a) {
  const auto channel = connect(a.at(0));
  const std::string token = read_token(a.at(1));
  const size_t from = std::stoul(a.at(3)), to = std::stoul(a.at(4));
  const auto begin = Clock::now();
  for (size_t i = from; i < to;) {
    davit::v1::ReportRequest request;
    for (const size_t end = std::min(to, i + 200); i < end; ++i) {
      auto* status = add_status(request, i);
      for (const char* pod : {"-7d4f9-x2x8p", "-7d4f9-q9k4n"}) {
        auto* child = status->add_children();
        child->set_name("b" + std::to_string(i) + pod);
        child->set_address("10.0.0.1");
        child->set_status("running");
      }
      status->set_desired(2);
      status->set_ready(1);
    }
    report(channel, token, a.at(2), request);
  }
  std::printf("{\"statuses\": %zu, \"seconds\": %.6f}\n", to - from, seconds_since(begin));
  return 0;
}

// Reads one protocol's stream and calls `arrived` with (name of the object, bytes) of each record,
// until it answers false.
void read_stream(const std::string& protocol, const std::string& server, const std::string& token,
                 const std::string& region,
                 const std::function<bool(const std::string& name, size_t bytes)>& arrived) {
  if (protocol == "davit.v1") {
    davit::v1::WatchRequest request;
    request.add_subscriptions()->set_kind("deployment");
    request.set_agent("bench");
    Stream<davit::v1::Frame> stream(connect(server), "/davit.v1.AgentService/Watch", request, token,
                                    region);
    for (davit::v1::Frame frame;;) {
      stream.next(&frame);
      for (const auto& record : frame.records()) {
        if (!arrived(record.name(), record.apply().size())) return;
      }
    }
  }
  ctrl::v1::WatchDeploymentsRequest request;
  request.set_region(region);
  Stream<ctrl::v1::DeploymentState> stream(
      connect(server), "/ctrl.v1.ClusterService/WatchDeployments", request, token, region);
  for (ctrl::v1::DeploymentState state;;) {
    stream.next(&state);
    if (state.has_apply() && !arrived(state.apply().k8s_name(), state.apply().ByteSizeLong()))
      return;
  }
}

int bootstrap(const Arguments& a) {
  const size_t wanted = std::stoul(a.at(4));
  size_t records = 0;
  size_t bytes = 0;
  const auto begin = Clock::now();
  read_stream(a.at(0), a.at(1), read_token(a.at(2)), a.at(3), [&](const std::string&, size_t size) {
    bytes += size;
    return ++records < wanted;
  });
  std::printf("{\"records\": %zu, \"bytes\": %zu, \"seconds\": %.6f}\n", records, bytes,
              seconds_since(begin));
  return 0;
}

// When each named change was asked for, and how long it took to arrive.
class Stopwatch {
 public:
  void asked(const std::string& name) {
    const std::lock_guard lock(mutex_);
    asked_[name] = Clock::now();
  }
  bool arrived(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = asked_.find(name);
    if (found == asked_.end()) return false;
    milliseconds_.push_back(seconds_since(found->second) * 1000);
    asked_.erase(found);
    changed_.notify_all();
    return true;
  }
  std::vector<double> wait_for(size_t count, std::chrono::seconds limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [&] { return milliseconds_.size() >= count; });
    std::sort(milliseconds_.begin(), milliseconds_.end());
    return milliseconds_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Clock::time_point> asked_;
  std::vector<double> milliseconds_;
};

// Milliseconds from the request for each of COUNT changes to its arrival, in ascending order.
// `beside` is called after each with the number of the changed record.
std::vector<double> receipts(const Arguments& a, const std::function<void(size_t)>& beside) {
  // Records that no run before has written: an apply that changes nothing does not arrive.
  const auto first = static_cast<size_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                             std::chrono::system_clock::now().time_since_epoch())
                                             .count());
  const size_t count = std::stoul(a.at(5));
  const auto pause = std::chrono::milliseconds(std::stoul(a.at(6)));
  const std::string token = read_token(a.at(2));
  const auto channel = connect(a.at(4));
  Stopwatch stopwatch;
  std::mutex mutex;
  std::condition_variable live_changed;
  bool live = false;
  size_t received = 0;
  std::thread reader([&] {
    read_stream(a.at(0), a.at(1), token, a.at(3), [&](const std::string& name, size_t) {
      if (name == "b" + std::to_string(first)) {
        const std::lock_guard lock(mutex);
        live = true;
        live_changed.notify_all();
      }
      if (stopwatch.arrived(name)) ++received;
      return received < count;
    });
  });
  // The stream is live when a first change has come through it.
  apply(channel, {a.at(3)}, first, first + 1, 1024);
  {
    std::unique_lock lock(mutex);
    if (!live_changed.wait_for(lock, std::chrono::seconds(30), [&] { return live; })) {
      reader.detach();  // the process ends with it
      throw std::runtime_error("the stream did not become live in 30 s");
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const size_t id = first + 1 + i;
    stopwatch.asked("b" + std::to_string(id));
    apply(channel, {a.at(3)}, id, id + 1, 1024);
    beside(id);
    std::this_thread::sleep_for(pause);
  }
  std::vector<double> times = stopwatch.wait_for(count, std::chrono::seconds(30));
  if (times.size() < count)
    throw std::runtime_error("lost: " + std::to_string(count - times.size()));
  reader.join();
  return times;
}

double p99(const std::vector<double>& sorted) {
  return sorted[std::min(sorted.size() - 1, sorted.size() * 99 / 100)];
}

int receipt(const Arguments& a) {
  const auto times = receipts(a, [](size_t) {});
  std::printf("{\"count\": %zu, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f}\n",
              times.size(), times[times.size() / 2], p99(times), times.back());
  return 0;
}

int neighbour(const Arguments& a) {
  const std::string token = read_token(a.at(2));
  const auto channel = connect(a.at(1));
  std::vector<double> reports;
  const auto times = receipts(a, [&](size_t id) {
    davit::v1::ReportRequest request;
    add_status(request, id);
    const auto begin = Clock::now();
    report(channel, token, a.at(3), request);
    reports.push_back(milliseconds(Clock::now() - begin));
  });
  std::sort(reports.begin(), reports.end());
  std::printf(
      "{\"receipt_p50_ms\": %.3f, \"receipt_p99_ms\": %.3f, \"report_p50_ms\": %.3f, "
      "\"report_p99_ms\": %.3f}\n",
      times[times.size() / 2], p99(times), reports[reports.size() / 2], p99(reports));
  return 0;
}

const std::map<std::string, Command> commands = {{"seed", {5, seed}},
                                                 {"report", {5, report_all}},
                                                 {"bootstrap", {5, bootstrap}},
                                                 {"receipt", {7, receipt}},
                                                 {"neighbour", {7, neighbour}}};

}  // namespace
}  // namespace davit::bench

int main(int argc, char** argv) {
  return davit::bench::run(davit::bench::commands, argc, argv);
}
