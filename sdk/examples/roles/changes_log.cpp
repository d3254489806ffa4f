// A change sink that applies nothing: it logs each change and settles it as done. With the watcher
// in front of it, it shows what a server sends to an agent.
#include <davit/outstanding.hpp>
#include <davit/sink.hpp>

namespace {

using davit::Op;
using davit::Result;
namespace sink = davit::sink;

class ChangesLog {
 public:
  using roles = davit::Roles<sink::ChangeRole>;

  explicit ChangesLog(davit::Host host) : host_(host), strand_(host.strand()) {
    const davit::Settings settings(host);  // there are none, and a key is a typing error
  }
  Result<> stop(const Op& op) { return open_.wait(host_, op); }

  Result<sink::Stream*> open(const std::string& kind, const std::string& region,
                             sink::Source source) {
    host_.info("a stream is open", {{"kind", kind}, {"region", region}});
    return new Open(std::move(source));
  }
  void begin(sink::Stream*, const sink::Begin& begin) {
    host_.info("the stream begins", {{"with", begin.snapshot ? "a snapshot" : "what is new"}});
  }
  // False would mean: there is no room, and `wake` follows. Here there is always room.
  bool offer(sink::Stream* stream, sink::Change change) {
    host_.info("a change", {{"id", change.key.id},
                            {"version", to_string(change.version)},
                            {"type", name_of(change.type)}});
    const auto outcome =
        change.type == sink::ChangeType::hold ? sink::Outcome::held : sink::Outcome::done;
    later(stream, [version = change.version, outcome](Open& open) {
      open.source.settled(version, outcome);
    });
    return true;
  }
  void bookmark(sink::Stream*, const sink::Bookmark& bookmark) {
    if (bookmark.snapshot_end) host_.info("the snapshot is complete");
  }
  // After `closed` the stream is gone. What was accepted before is settled: it stands in front of
  // this task on the strand.
  void close(sink::Stream* stream) {
    later(stream, [](Open& open) {
      const std::unique_ptr<Open> last(&open);
      last->source.closed();
    });
  }

 private:
  struct Open : sink::Stream {
    explicit Open(sink::Source s) : source(std::move(s)) {}
    const sink::Source source;
  };
  static const char* name_of(sink::ChangeType type) {
    if (type == sink::ChangeType::apply) return "apply";
    return type == sink::ChangeType::remove ? "delete" : "hold";
  }
  // The source hears of it on our strand, not within its own call.
  template <class Task>
  void later(sink::Stream* stream, Task task) {
    strand_.post([open = static_cast<Open*>(stream), task = std::move(task),
                  ticket = open_.begin()] { task(*open); });
  }

  davit::Host host_;
  davit::Strand strand_;
  davit::Outstanding open_;
};

}  // namespace

DAVIT_PLUGIN(ChangesLog, "changes_log", DAVIT_PLUGIN_VERSION, "logs changes and applies nothing")
