// Stream: reads one page of the store on the storage's pool, and asks the kind about its records
// and encodes them on the kind's pool.
#include "stream.hpp"

namespace davit::streamer {
namespace {

// What a subscription may hold.
constexpr uint32_t page_records = 256;
constexpr uint64_t page_bytes = 64 * 1024;
// A page ends early when its kind has been asked for so long.
constexpr std::chrono::milliseconds asked_for_a_page{500};

}  // namespace

void Stream::fetch(const PageJob& job) {
  job.shared.host.blocking(job.shared.storage.instance(), [job] {
    const Topic& topic = job.key.topic;
    auto records = std::make_shared<std::vector<Record>>();
    const auto page = job.shared.storage.read({{topic.kind, topic.region},
                                               job.todo.cursor,
                                               job.todo.dead_after,
                                               page_records,
                                               page_bytes,
                                               true},
                                              [&](const davit_record& r) {
                                                records->push_back(from_abi(r));
                                                return true;
                                              });
    if (!page.ok()) return fetched(job, page.error());
    if (records->empty()) return fetched(job, encoded(job, *page, {}));
    job.shared.host.blocking(job.kind.client.instance(), [job, page = *page, records] {
      fetched(job, encoded(job, page, std::move(*records)));
    });
  });
}

// What the kind makes of the change for Krane's agents.
void Stream::told(const PageJob& job, const Change& change, const Result<Buffer>& made) {
  const Key key{job.key.topic.kind, job.key.topic.region, change.id};
  Classifier& classifier = job.shared.classifier;
  if (made.ok()) return classifier.not_delayed(key, Delay::ctrl_v1, change.version);
  classifier.delayed(key, Delay::ctrl_v1, change.version, made.error());
}

void Stream::fetched(const PageJob& job, const PageResult& result) {
  if (job.shared.pages.done(job.key, result)) fetch(job);
}

PageResult Stream::encoded(const PageJob& job, const Page& page, std::vector<Record> records) {
  const Topic& topic = job.key.topic;
  const Encoding& cut = job.protocol.cut;
  auto out = std::make_shared<PageRead>();
  out->page = page;
  std::vector<Change> changes;
  changes.reserve(records.size());
  const auto end_early = [&] {
    out->page.more = true;
    out->page.next_version = changes.empty() ? job.todo.cursor.version : changes.back().version;
  };
  const auto until = job.shared.host.now() + asked_for_a_page;
  for (Record& r : records) {
    if (!changes.empty() && job.shared.host.now() >= until) {
      end_early();
      break;
    }
    auto change = job.shared.classifier.change(job.kind, std::move(r));
    const bool makes = change.ok() && cut.make && cut.takes(*change);
    auto made = makes ? cut.make(topic, *change) : Result<Buffer>(Buffer());
    if (makes) told(job, *change, made);
    if (!change.ok() || !made.ok()) {
      out->delayed = change.ok() ? made.error() : change.error();
      end_early();
      break;
    }
    if (makes) out->messages.push_back(std::move(*made));
    changes.push_back(std::move(*change));
  }
  out->records = changes.size();

  std::vector<const Change*> batch;
  size_t bytes = 0;
  auto flush = [&] {
    if (!batch.empty()) out->messages.push_back(cut.encode(topic, batch));
    batch.clear();
    bytes = 0;
  };
  PageNames names(job.todo.dead_after);
  for (const auto& c : changes) {
    names.add(c.id, c.version, c.live());
    if (!c.live()) out->add_dead(c);
    if (cut.make || !cut.takes(c)) continue;
    if (batch.size() == cut.records_max || bytes + c.content_bytes() > cut.bytes_max) flush();
    batch.push_back(&c);
    bytes += c.content_bytes();
  }
  flush();
  names.seal();
  out->names = job.shared.pages.same(job.key, std::move(names));
  out->counted = job.todo.counted;
  return std::shared_ptr<const PageRead>(std::move(out));
}

}  // namespace davit::streamer
