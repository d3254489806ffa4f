// One raw client for both framings of the agents' streams; run.py starts the servers and judges the
// figures. FRAMING: connect or grpc, over HTTP/2 either way. WIRE: davit.v1 or ctrl.v1.
//
//   http2-bench drain FRAMING WIRE SERVER TOKEN_FILE REGION COUNT
//       one stream reads COUNT records from cursor 0
//   http2-bench idle  FRAMING WIRE SERVER TOKEN_FILE STREAMS CONNECTIONS REGIONS
//       opens the streams, says "live" when each has had a message, keeps them until its input ends
#include <sys/resource.h>

#include <cstdio>

#include "commands.hpp"
#include "http2_streams.hpp"
#include "watch_wire.hpp"
#include "wire.hpp"

namespace davit::bench {
namespace {

constexpr std::chrono::seconds patience{600};

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

grpc::ByteBuffer borrowed(std::string_view message) {
  const grpc::Slice slice(message.data(), message.size(), grpc::Slice::STATIC_SLICE);
  return {&slice, 1};
}

StreamRequest request(const WatchWire& wire, const std::string& token, const std::string& region) {
  return {wire.watch_path(), token, region, wire.watch_request(region, {})};
}

int drain(const Arguments& a) {
  const auto wire = watch_wire(a.at(1));
  const size_t wanted = std::stoul(a.at(5));
  size_t records = 0, messages = 0, bytes = 0;
  const auto begin = Clock::now();
  Place place;
  Http2Streams streams(framing(a.at(0)), a.at(2), 1, [&](size_t, std::string_view message) {
    ++messages;
    bytes += message.size();
    return wire->read(borrowed(message), place, [&](uint64_t) { ++records; });
  });
  streams.open(request(*wire, read_token(a.at(3)), a.at(4)));
  streams.run_until([&] { return records >= wanted; }, patience);
  std::printf(
      "{\"records\": %zu, \"messages\": %zu, \"bytes\": %zu, \"seconds\": %.6f, "
      "\"processor_seconds\": %.6f}\n",
      records, messages, bytes, seconds_since(begin), processor_seconds());
  return 0;
}

int idle(const Arguments& a) {
  const auto wire = watch_wire(a.at(1));
  const std::string token = read_token(a.at(3));
  const size_t count = std::stoul(a.at(4)), regions = std::stoul(a.at(6));
  std::vector<bool> is_live(count);
  size_t live = 0;
  Http2Streams streams(framing(a.at(0)), a.at(2), std::stoul(a.at(5)),
                       [&](size_t stream, std::string_view) {
                         if (!is_live[stream]) ++live;
                         is_live[stream] = true;
                         return true;
                       });
  for (size_t i = 0; i < count; ++i) streams.open(request(*wire, token, region_name(i % regions)));
  streams.run_until([&] { return live == count; }, patience);
  std::puts("live");
  std::fflush(stdout);
  streams.run_until_input_ends();
  return 0;
}

const std::map<std::string, Command> commands = {{"drain", {6, drain}}, {"idle", {7, idle}}};

}  // namespace
}  // namespace davit::bench

int main(int argc, char** argv) {
  return davit::bench::run(davit::bench::commands, argc, argv);
}
