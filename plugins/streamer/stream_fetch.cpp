// Stream: reads one page of the store and encodes it. Runs on the storage's pool.
#include "stream.hpp"

namespace davit::streamer {
namespace {

// What a subscription may hold.
constexpr uint32_t page_records = 256;
constexpr uint64_t page_bytes = 64 * 1024;

}  // namespace

PageResult Stream::fetch(Shared& shared, const Protocol& protocol, const PageCache::Key& key,
                         const Classifier::Kind& kind, const Pager::Todo& todo) {
  const Topic& topic = key.topic;
  auto out = std::make_shared<PageRead>();
  std::vector<Record> records;
  auto page = shared.storage.read(
      {{topic.kind, topic.region}, todo.cursor, todo.dead_after, page_records, page_bytes, true},
      [&](const davit_record& r) {
        records.push_back(from_abi(r));
        return true;
      });
  if (!page.ok()) return page.error();
  out->page = *page;
  std::vector<Change> changes;
  changes.reserve(records.size());
  for (Record& r : records) {
    auto change = shared.classifier.change(kind, std::move(r));
    const bool makes = change.ok() && protocol.cut.make && protocol.cut.takes(*change);
    auto made = makes ? protocol.cut.make(topic, *change) : Result<Buffer>(Buffer());
    if (!change.ok() || !made.ok()) {
      out->delayed = change.ok() ? made.error() : change.error();
      out->page.more = true;
      out->page.next_version = changes.empty() ? todo.cursor.version : changes.back().version;
      break;
    }
    if (makes) out->messages.push_back(std::move(*made));
    changes.push_back(std::move(*change));
  }
  out->records = changes.size();

  std::vector<const Change*> batch;
  size_t bytes = 0;
  auto flush = [&] {
    if (!batch.empty()) out->messages.push_back(protocol.cut.encode(topic, batch));
    batch.clear();
    bytes = 0;
  };
  PageNames names(todo.dead_after);
  for (const auto& c : changes) {
    names.add(c.id, c.version, c.live());
    if (!c.live()) out->add_dead(c);
    if (protocol.cut.make || !protocol.cut.takes(c)) continue;
    if (batch.size() == protocol.cut.records_max ||
        bytes + c.content_bytes() > protocol.cut.bytes_max)
      flush();
    batch.push_back(&c);
    bytes += c.content_bytes();
  }
  flush();
  names.seal();
  out->names = shared.pages.same(key, std::move(names));
  out->counted = todo.counted;
  return std::shared_ptr<const PageRead>(std::move(out));
}

}  // namespace davit::streamer
