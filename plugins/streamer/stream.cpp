#include "stream.hpp"

#include <algorithm>

#include "frames.hpp"

namespace davit::streamer {

Stream::Stream(Shared& shared, rpc::Call call, Strand strand, const Protocol& protocol, Parse parse)
    : shared_(shared),
      call_(call),
      protocol_(protocol),
      parse_(std::move(parse)),
      ticket_(shared.feed.outstanding().begin()),
      port_(std::make_shared<Port>(std::move(strand), this, protocol.encoding)) {
  shared_.streams.add(1);
}

Stream::~Stream() {
  port_->listener = nullptr;
  if (!place_.empty()) shared_.latest.leave(place_, port_);
  if (!entered_.empty()) shared_.regions.leave(entered_);
  shared_.feed.leave(port_, topics_);
  shared_.streams.add(-1);
  for (const auto& part : parts_) shared_.waiting.add(-static_cast<double>(part.ready.size()));
}

void Stream::on_message(Buffer request) {
  auto region = rpc::authorized_region(call_);
  if (!region.ok()) return finish(rpc::End::of(region.error()));
  auto wanted = parse_(request.view(), *region);
  if (!wanted.ok()) return finish(rpc::End::of(wanted.error()));
  if (auto r = enter(*region); !r.ok()) return finish(rpc::End::of(r.error()));
  topics_.reserve(wanted->size());
  parts_.reserve(wanted->size());
  for (auto& [topic, cursor] : *wanted) {
    const auto* kind = shared_.classifier.kind(topic.kind);
    parts_.push_back({.topic = topic,
                      .kind = kind,
                      .pager = Pager(protocol_.traits, cursor),
                      .came_from = cursor.incarnation});
    if (kind != nullptr) {
      topics_.push_back(topic);
    } else {
      fail(parts_.back(),
           {Code::invalid_argument, "kind \"" + topic.kind + "\" is not known to this server"});
    }
  }
  if (finished_) return;
  if (!shared_.feed.join(port_, topics_)) return finish(shutdown());
  if (protocol_.one_on_a_connection) replace_older();
  pump();
}

Result<> Stream::enter(const std::string& region) {
  if (auto r = Regions::usable(region); !r.ok()) return r;
  if (Regions::named(call_.identity(), region)) return {};
  if (!shared_.regions.enter(region)) {
    return Error{Code::resource_exhausted,
                 "too many regions are watched by tokens that name every region (regions_max); "
                 "a token that names \"" +
                     region + "\" itself is served"};
  }
  entered_ = region;
  return {};
}

void Stream::replace_older() {
  place_ = Latest::key(call_.peer(), topics_.front());
  const auto older = shared_.latest.replace(place_, port_);
  if (!older) return;
  older->strand.post([older] {
    if (older->listener != nullptr) older->listener->on_replaced();
  });
}

void Stream::on_end_of_messages() {
  if (parts_.empty()) finish({Code::invalid_argument, "the request message is missing"});
}

void Stream::on_writable() {
  writing_ = false;
  pump();
}

// The peer is gone, its deadline has passed, or the server drains. The answer fits all three.
void Stream::on_cancel() {
  finish(shutdown());
}
void Stream::on_shutdown() {
  finish(shutdown());
}

void Stream::on_replaced() {
  finish({Code::aborted, "a newer watch of this kind on the same connection has taken its place"});
}

void Stream::on_woken() {
  for (auto& part : parts_) {
    part.pager.woken();
    part.idle = false;
  }
  pump();
}

void Stream::on_tick() {
  for (auto& part : parts_) part.pager.tick();
  on_woken();
}

// Gives each part its turn until a message is being written or all parts wait.
void Stream::pump() {
  bool moved = true;
  while (moved && !finished_) {
    moved = false;
    for (size_t n = 0; n < parts_.size() && !finished_; ++n) {
      Part& part = parts_[turn_++ % parts_.size()];
      if (!part.ready.empty()) {
        if (writing_) continue;
        write(part.ready.front());
        part.ready.pop_front();
        shared_.waiting.add(-1);
        moved = true;
      } else if (!part.over && !part.busy && !part.idle &&
                 (!writing_ || part.pager.reads_store())) {
        moved |= step(part);
      }
    }
  }
  finish_if_over();
}

// Ends this part and names it. A ctrl.v1 stream has one part, and no message for this.
void Stream::fail(Part& part, const Error& error) {
  last_ = rpc::End::of(error);
  if (protocol_.ctrl) return finish(last_);
  part.over = true;
  put(part, {encode_end(part.topic.kind, error), {}});
}

// A stream without a part that goes on ends when its last message is written.
void Stream::finish_if_over() {
  const auto ended = [](const Part& part) { return part.over && part.ready.empty(); };
  if (!writing_ && !parts_.empty() && std::all_of(parts_.begin(), parts_.end(), ended))
    finish(last_);
}

// One step of one part. False: the part waits now.
bool Stream::step(Part& part) {
  const Pager::Todo todo = part.pager.next();
  switch (todo.act) {
    case Pager::Act::read_head:
      read_head(part);
      return !part.busy;
    case Pager::Act::read_page:
      read_page(part, todo);
      return false;
    case Pager::Act::ask_ring:
      take(part, shared_.feed.next(part.topic, todo.cursor, protocol_.encoding));
      return true;
    case Pager::Act::bookmark:
      put(part, bookmark(part, todo));
      return true;
    case Pager::Act::finish:
      finish({});
      return false;
    case Pager::Act::idle:
      break;
  }
  part.idle = true;
  return false;
}

void Stream::take(Part& part, const Ring::Step& step) {
  switch (step.place) {
    case Ring::Place::unready:
      part.pager.ring_unready();
      break;
    case Ring::Place::behind:
      part.pager.ring_behind();
      break;
    case Ring::Place::ahead:
      part.pager.ring_ahead();
      break;
    case Ring::Place::at_tip:
      part.pager.ring_tip(step.after, step.caught_up);
      open(part);
      break;
    case Ring::Place::frame:
      part.pager.ring_frame(step.after, step.caught_up);
      open(part);
      put(part, {step.frame, {}});
      if (!protocol_.ctrl) {
        if (auto todo = part.pager.bookmark()) part.ready.back().tail = encode_bookmark({}, *todo);
      }
      shared_.ring_hits.add();
      if (step.committed_at_unix_ms) {
        // The store may run on another machine, whose clock may be ahead.
        const int64_t ms =
            std::max<int64_t>(0, shared_.host.unix_ms() - *step.committed_at_unix_ms);
        shared_.propagation.observe(std::chrono::milliseconds(ms));
      }
      shared_.records_sent.add(static_cast<double>(step.records));
      break;
  }
}

void Stream::open(Part& part) {
  const auto todo = part.pager.opening();
  if (!todo) return;
  if (todo->mark == Pager::Mark::begin_snapshot) part.came_from = todo->cursor.incarnation;
  put(part, bookmark(part, *todo));
}

Stream::Message Stream::bookmark(const Part& part, const Pager::Todo& todo) const {
  if (protocol_.ctrl) return {encode_state_bookmark(todo.cursor.version), {}};
  History history;
  if (todo.mark == Pager::Mark::begin_snapshot) history = *part.history;
  if (todo.mark == Pager::Mark::begin_tail) history = shared_.feed.history_since(part.came_from);
  // A history that does not end with the cursor's incarnation is out of date: send none.
  if (!history.empty() && history.back().incarnation != todo.cursor.incarnation) history.clear();
  return {encode_bookmark(part.topic.kind, todo, history), {}};
}

void Stream::put(Part& part, Message message) {
  part.ready.push_back(std::move(message));
  shared_.waiting.add(1);
}

void Stream::write(const Message& message) {
  writing_ = true;
  if (message.tail) {
    call_.write({message.body, message.tail});
  } else {
    call_.write(message.body);
  }
}

rpc::End Stream::shutdown() const {
  // A random time in the interval, so that the streams of a server do not all come back at once.
  const auto hint =
      jittered(shared_.retry_after / 2, shared_.retry_after, shared_.host.random()).count();
  rpc::End end = rpc::End::of(shutting_down());
  end.trailers = {{"retry-after-ms", std::to_string(hint)}};
  return end;
}

void Stream::finish(const rpc::End& end) {
  if (std::exchange(finished_, true)) return;
  call_.finish(end);
}

}  // namespace davit::streamer
