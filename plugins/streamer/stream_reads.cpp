// The part of Stream that reads the store.
#include "frames.hpp"
#include "stream.hpp"

namespace davit::streamer {

namespace {

Result<Start> read_start(const storage::Client& storage) {
  auto head = storage.head();
  if (!head.ok()) return head.error();
  auto history = storage.history();
  if (!history.ok()) return history.error();
  return Start{*head, std::make_shared<const History>(std::move(*history))};
}

}  // namespace

// Reads the store's head: to begin a snapshot there, or to judge a cursor without incarnation.
void Stream::read_head(Part& part) {
  const bool shares = protocol_.manners.ring && part.pager.cursor().version == 0;
  if (shares) {
    if (auto start = shared_.pages.begin(part.topic, shared_.host.now()))
      return begin(part, *start);
  }
  part.busy = true;
  shared_.storage_reads.add();
  const auto index = static_cast<size_t>(&part - parts_.data());
  shared_.storage.run(port_->strand, read_start,
                      [this, index, shares, port = port_, ticket = ticket_](Result<Start> start) {
                        if (port->listener == nullptr || finished_) return;
                        Part& p = parts_[index];
                        p.busy = false;
                        if (!start.ok()) {
                          shared_.storage_errors.add();
                          fail(p, start.error());
                          return pump();
                        }
                        if (shares) shared_.pages.begun(p.topic, *start, shared_.host.now());
                        begin(p, *start);
                        pump();
                      });
}

void Stream::begin(Part& part, const Start& start) {
  part.history = start.history;
  part.pager.head(start.head);
  open(part);
}

void Stream::read_page(Part& part, const Pager::Todo& todo) {
  part.busy = true;
  const auto index = static_cast<size_t>(&part - parts_.data());
  const PageCache::Key key{part.topic, protocol_.encoding, todo.cursor, todo.dead_after,
                           todo.counted};
  auto taker = [this, index, port = port_, ticket = ticket_](const PageResult& read) {
    port->strand.post([this, index, port, ticket, read] {
      if (port->listener != nullptr && !finished_) page_read(index, read);
    });
  };
  // The mirror shares nothing, as in Krane's server.
  const bool shares = protocol_.manners.ring;
  if (shares && !shared_.pages.want(key, taker)) return;
  shared_.storage_reads.add();
  shared_.host.blocking(
      shared_.storage.instance(), [shared = &shared_, protocol = &protocol_, kind = part.kind, todo,
                                   key, taker, shares, ticket = ticket_] {
        if (!shares) return taker(fetch(*shared, *protocol, key, *kind, todo));
        while (shared->pages.done(key, fetch(*shared, *protocol, key, *kind, todo))) {
        }
      });
}

PageResult Stream::fetch(Shared& shared, const Protocol& protocol, const PageCache::Key& key,
                         const Classifier::Kind& kind, const Pager::Todo& todo) {
  const Topic& topic = key.topic;
  auto out = std::make_shared<PageRead>();
  std::vector<Change> changes;
  auto page = shared.storage.read({{topic.kind, topic.region},
                                   todo.cursor,
                                   todo.dead_after,
                                   protocol.page_records,
                                   protocol.page_bytes,
                                   true},
                                  [&](const davit_record& r) {
                                    auto change = shared.classifier.change(kind, r);
                                    if (protocol.cut.json && change.verb == Verb::apply)
                                      change.json = text(r.json);
                                    changes.push_back(std::move(change));
                                    return true;
                                  });
  if (!page.ok()) return page.error();
  out->page = *page;
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
    if (!protocol.cut.takes(c)) continue;
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

void Stream::page_read(size_t index, const PageResult& read) {
  Part& part = parts_[index];
  part.busy = false;
  if (!read.ok()) {
    if (read.error().code != Code::out_of_range) shared_.storage_errors.add();
    fail(part, read.error());
    return pump();
  }
  shared_.ring_misses.add();
  const PageRead& page = **read;
  auto told = part.pager.page(page.page, page.records, page.counted ? page.names : nullptr);
  if (!told.ok()) {
    shared_.pages.forget(part.topic);
    fail(part, told.error());
    return pump();
  }
  open(part);
  for (const auto& m : page.messages) put(part, {m, {}});
  shared_.records_sent.add(static_cast<double>(page.records));
  pump();
}

}  // namespace davit::streamer
