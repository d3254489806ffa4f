// The sink of a stream, as the watcher's tests play it: how it is opened and closed, and what it
// has been offered, in words. A test adds begin, offer and bookmark.
#pragma once

#include <optional>
#include <string>

#include <davit/sink.hpp>

#include "fake_rpc.hpp"

namespace davit::watcher {

struct FakeSink {
  std::string seen;
  std::optional<sink::Source> source;
  struct Opened : sink::Stream {
  } stream;

  Result<sink::Stream*> open(const std::string&, const std::string&, sink::Source s) {
    source = std::move(s);
    return static_cast<sink::Stream*>(&stream);
  }
  void close(sink::Stream*) { source->closed(); }
  std::string take() { return std::exchange(seen, {}); }
};

template <class Sink>
void add_sink(testing::TestHost& host, Sink& sink) {
  host.add_role("applier", DAVIT_CHANGE_SINK, reinterpret_cast<davit_instance*>(&sink),
                sink::ChangeRole::vtable<Sink>());
}

}  // namespace davit::watcher
