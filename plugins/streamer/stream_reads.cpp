// The part of Stream that reads the store.
#include "frames.hpp"
#include "stream.hpp"

namespace davit::streamer {

namespace {

constexpr uint32_t told_after = 3;  // failures of a kind in a row

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
  const bool shares = !part.pager.cursor().version;
  if (shares) {
    if (auto start = shared_.pages.begin(part.topic, shared_.host.now()))
      return begin(part, *start);
  }
  part.busy = true;
  shared_.storage_reads.add();
  const auto index = static_cast<size_t>(&part - parts_.data());
  shared_.storage.under(call_.operation())
      .run(port_->strand, read_start,
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
  if (!shared_.pages.want(key, taker)) return;
  shared_.storage_reads.add();
  fetch({shared_, protocol_, *part.kind, todo, key, ticket_});
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
  wait_for_kind(part, page.delayed);
  pump();
}

// A kind that cannot classify a record delays this part from there on, and no other.
void Stream::wait_for_kind(Part& part, const std::optional<Error>& delayed) {
  if (!delayed) return part.delay.reset();
  const auto wait = part.delay.next(shared_.host.random(), delayed->retry_after);
  if (part.delay.failures() == told_after) {
    shared_.host.warn(
        "records wait for their kind",
        {{"kind", part.topic.kind}, {"region", part.topic.region}, {"reason", delayed->message}});
  }
  part.busy = true;
  const auto index = static_cast<size_t>(&part - parts_.data());
  if (!part.nap) part.nap = std::make_unique<Timer>(port_->strand);
  part.nap->after(wait, [this, index] {
    parts_[index].busy = false;
    pump();
  });
}

}  // namespace davit::streamer
