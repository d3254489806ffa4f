// The part of Feed that asks the kinds again about the records that they could not classify. A
// stream asks for itself. Where no agent watches nobody else would ask, and `davit status` would go
// on showing the record as delayed.
#include <map>

#include "feed.hpp"

namespace davit::streamer {

namespace {

constexpr std::chrono::seconds delayed_asked_every{30};
constexpr size_t delayed_at_once = 100;

}  // namespace

// On the strand.
void Feed::ask_again() {
  const int64_t since = host_.unix_ms() - std::chrono::milliseconds(delayed_asked_every).count();
  auto keys = classifier_.delays().unasked(Delay::stream, since, delayed_at_once);
  if (keys.empty()) return;
  host_.blocking(storage_.instance(),
                 [this, keys = std::move(keys), ticket = outstanding_.begin()] {
                   std::map<std::string, std::vector<Record>> of_kinds;
                   for (const Key& key : keys) {
                     bool found = false;
                     const auto head = storage_.get({key, {}, {}}, [&](const davit_record& r) {
                       of_kinds[key.kind].push_back(from_abi(r));
                       return !(found = true);
                     });
                     if (!head.ok()) return;  // the tailer says so
                     if (!found) classifier_.not_delayed(key, Delay::stream, Version::max());
                   }
                   for (auto& [kind, records] : of_kinds)
                     ask_again(kind, std::move(records), ticket);
                 });
}

void Feed::ask_again(const std::string& kind, std::vector<Record> records,
                     const Outstanding::Ticket& ticket) {
  const Classifier::Kind* of = classifier_.kind(kind);
  host_.blocking(of->client.instance(), [this, of, records = std::move(records), ticket] {
    for (const Record& r : records) (void)classifier_.change(*of, r);  // notes what it hears
  });
}

}  // namespace davit::streamer
