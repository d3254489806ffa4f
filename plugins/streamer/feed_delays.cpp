// The part of Feed that asks the kinds again about the records that they could not classify. A
// stream asks for itself. Where no agent watches nobody else would ask, and `davit status` would go
// on showing the record as delayed.
#include <map>
#include <set>

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
                   std::set<Key> missing(keys.begin(), keys.end());
                   GetRequest request;
                   for (const Key& key : keys) request.queries.push_back({key, {}, {}});
                   const auto head = storage_.get(request, [&](const davit_record& r) {
                     const Record& found = of_kinds[text(r.key.kind)].emplace_back(from_abi(r));
                     missing.erase(found.key);
                     return true;
                   });
                   if (!head.ok()) return;  // the tailer says so
                   for (const Key& key : missing)
                     classifier_.not_delayed(key, Delay::stream, Version::max());
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
