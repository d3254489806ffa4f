// The streamer on both sides: what peers ask for, and stored records on their way to frames and
// states. The agent's own reader (the watcher) looks at what was made.
#include <span>

#include "batch.hpp"
#include "choice.hpp"
#include "frames.hpp"
#include "kinds.hpp"
#include "request.hpp"
#include "require.hpp"

namespace {

using namespace davit;

constexpr std::string_view region = "us-east-1";

struct World {
  fuzz::Kinds kinds{FUZZ_KINDS};
  streamer::Classifier classifier{kinds.host()};
  World() {
    const auto wired = classifier.wire();
    fuzz::require(wired.ok(), "the classifier finds the kinds",
                  wired.ok() ? "" : wired.error().message);
  }
};

World& world() {
  static World world;
  return world;
}

void on_watch(std::string_view bytes) {
  const auto asked = streamer::parse_watch(bytes, std::string(region));
  if (!fuzz::no_bug(asked, "watch").ok()) return;
  fuzz::require(!asked->empty() && asked->size() <= 64,
                "a watch has a sane number of subscriptions");
  for (const auto& s : *asked)
    fuzz::require(s.topic.region == region, "a watch stays in the region of its call");
}

void on_ctrl(std::string_view bytes) {
  const auto asked = streamer::parse_ctrl_watch("deployment", bytes, std::string(region));
  fuzz::require(!fuzz::no_bug(asked, "ctrl watch").ok() || asked->size() == 1,
                "a ctrl.v1 watch is one subscription");
  const auto id = streamer::parse_ctrl_get(bytes);
  fuzz::require(!fuzz::no_bug(id, "ctrl get").ok() || !id->empty(), "a point query has an id");
}

// A record as a store may hold it: "state\nid\nnamespace\nname\npayload"; the payload is whatever
// is left.
struct Stored {
  std::string_view state, id, ns, name, payload;
};

Stored split(std::string_view text) {
  Stored out;
  for (auto* part : {&out.state, &out.id, &out.ns, &out.name}) {
    const size_t end = std::min(text.find('\n'), text.size());
    *part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out.payload = text;
  return out;
}

// A store gives only text for what is text; of anything else protobuf would refuse the frame on the
// other side.
bool is_text(const Stored& s) {
  for (const auto part : {s.state, s.id, s.ns, s.name}) {
    if (!valid_utf8(part)) return false;
  }
  return true;
}

void compare(const streamer::Change& sent, const Result<watcher::Batch>& got) {
  fuzz::require(got.ok(), "the agent reads what the server sends",
                got.ok() ? "" : got.error().message);
  fuzz::require(got->items.size() == 1, "one record is one change");
  const auto& change = got->items.front().change;
  fuzz::require(change.key.id == sent.id && change.ns == sent.ns && change.name == sent.name &&
                    change.version == sent.version,
                "the agent reads the record that was sent");
}

void on_record(std::string_view text, bool live) {
  const Stored stored = split(text);
  for (const auto& [name, kind] : world().classifier.kinds()) {
    Record record;
    record.key = {name, std::string(region), std::string(stored.id)};
    record.ns = stored.ns;
    record.name = stored.name;
    record.version = 17;
    record.state = stored.state;
    record.live = live;
    record.payload = stored.payload;
    const auto judged = world().classifier.change(kind, std::move(record));
    if (!fuzz::no_bug(judged, "change").ok()) return;
    const streamer::Change& change = *judged;
    const streamer::Change* changes[] = {&change};
    const Buffer frame = streamer::encode_frame({name, std::string(region)}, changes);
    streamer::encode_get(&change, {3, 17});
    const auto got = watcher::davit_v1(name, std::string(region), "agent").decode(frame);
    if (is_text(stored)) compare(change, got);
    // ctrl.v1 knows records by their names.
    const bool on_ctrl = kind.client.description().ctrl_v1.has_value();
    if (on_ctrl && change.verb != streamer::Verb::hold && !change.name.empty()) {
      fuzz::no_bug(streamer::encode_state(kind, change, 17), "state");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [entry, rest] = fuzz::choose(data, size);
  if (entry == "davit.v1.WatchRequest") on_watch(rest);
  if (entry == "ctrl") on_ctrl(rest);
  if (entry == "live") on_record(rest, true);
  if (entry == "dead") on_record(rest, false);
  return 0;
}
