// The roles change sink and status sink in C++. ChangeRole and StatusRole make the ABI tables of a
// class; ChangeClient and StatusClient call the sinks. abi/sink.h has the contract.
//
//   class Applier {                              // a change sink
//     davit::Result<sink::Stream*> open(std::string kind, std::string region, sink::Source);
//     void begin(sink::Stream*, sink::Begin);
//     bool offer(sink::Stream*, sink::Change);   // false: there is no room; source.wake follows
//     void bookmark(sink::Stream*, sink::Bookmark);
//     void close(sink::Stream*);                 // source.closed follows
//   };
//   class Reporter {                             // a status sink
//     void offer(Status);
//     void advance(std::string region, KindProgress);
//     void issue(std::string region, Issue);
//   };
#pragma once

#include "flags.hpp"
#include "lookup.hpp"
#include "plugin.hpp"
#include "records.hpp"

namespace davit::sink {

enum class ChangeType : int32_t {
  apply = DAVIT_CHANGE_APPLY,
  remove = DAVIT_CHANGE_DELETE,
  hold = DAVIT_CHANGE_HOLD,
};
struct Change {
  ChangeType type = ChangeType::apply;
  Key key;
  std::string ns, name;
  Version version{};
  Buffer payload;
  std::string state{};  // empty: the peer does not send it
  Pairs annotations{};
};

enum class Outcome : int32_t {
  done = DAVIT_OUTCOME_DONE,
  parked = DAVIT_OUTCOME_PARKED,
  held = DAVIT_OUTCOME_HELD,
  abandoned = DAVIT_OUTCOME_ABANDONED,
};

// The callbacks of the side that offers changes. They come on any thread.
struct Source {
  std::function<void()> wake;
  std::function<void(Version, Outcome)> settled;
  std::function<void()> closed;
};

struct Begin {
  bool snapshot = false;
  Cursor at;
  History history;  // of a snapshot; empty: the peer does not send it
};
struct Bookmark {
  bool snapshot_end = false;
  std::optional<uint64_t> live_count;
  Cursor at;
  bool quiet = false;  // DAVIT_BOOKMARK_QUIET
};

// The base of an open stream. A sink derives its own class from it, and the ABI passes a pointer to
// it as the handle.
struct Stream {
  virtual ~Stream() = default;
};

struct ChangeRole {
  static constexpr std::string_view id = DAVIT_CHANGE_SINK;

  template <class T>
  static const void* vtable() {
    using detail::object;
    static const davit_change_sink table = {
        sizeof(davit_change_sink),
        0,
        [](davit_instance* i, davit_str kind, davit_str region, const davit_change_source* s,
           void* self, davit_change_stream** out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            Source source{[f = s->wake, self] { f(self); },
                          [f = s->settled, self](Version v, Outcome o) {
                            f(self, v.value(), static_cast<int32_t>(o));
                          },
                          [f = s->closed, self] { f(self); }};
            auto r = object<T>(i).open(text(kind), text(region), std::move(source));
            if (!r.ok()) return r.error();
            *out = reinterpret_cast<davit_change_stream*>(*r);
            return {};
          });
        },
        [](davit_instance* i, davit_change_stream* s, const davit_begin* b, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(*b); !known.ok()) return known;
            History history;
            for (size_t n = 0; n < b->history_count; ++n)
              history.push_back(from_abi(b->history[n]));
            object<T>(i).begin(stream(s), {(b->flags & DAVIT_BEGIN_SNAPSHOT) != 0, from_abi(b->at),
                                           std::move(history)});
            return {};
          });
        },
        [](davit_instance* i, davit_change_stream* s, const davit_change* c) -> int32_t {
          return must_not_throw("davit_change_sink.offer", [&] {
            Change change{static_cast<ChangeType>(c->type),
                          from_abi(c->key),
                          text(c->ns),
                          text(c->name),
                          Version(c->version),
                          Buffer(c->payload),
                          text(c->state),
                          from_abi(c->annotations, c->annotations_count)};
            return object<T>(i).offer(stream(s), std::move(change)) ? DAVIT_OK : DAVIT_WAIT;
          });
        },
        [](davit_instance* i, davit_change_stream* s, const davit_bookmark* b, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(*b); !known.ok()) return known;
            Bookmark mark{(b->flags & DAVIT_BOOKMARK_SNAPSHOT_END) != 0, std::nullopt,
                          from_abi(b->at), false};
            if ((b->flags & DAVIT_BOOKMARK_COUNTED) != 0) mark.live_count = b->live_count;
            mark.quiet = (b->flags & DAVIT_BOOKMARK_QUIET) != 0;
            object<T>(i).bookmark(stream(s), mark);
            return {};
          });
        },
        [](davit_instance* i, davit_change_stream* s) {
          must_not_throw("davit_change_sink.close", [&] { object<T>(i).close(stream(s)); });
        }};
    return &table;
  }

 private:
  static Stream* stream(davit_change_stream* s) { return reinterpret_cast<Stream*>(s); }
};

struct StatusRole {
  static constexpr std::string_view id = DAVIT_STATUS_SINK;

  template <class T>
  static const void* vtable() {
    using detail::object;
    static const davit_status_sink table = {
        sizeof(davit_status_sink), 0,
        [](davit_instance* i, const davit_status* s, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(*s); !known.ok()) return known;
            object<T>(i).offer(from_abi(*s));
            return {};
          });
        },
        [](davit_instance* i, davit_str region, const davit_kind_progress* p) {
          must_not_throw("davit_status_sink.advance",
                         [&] { object<T>(i).advance(text(region), from_abi(*p)); });
        },
        [](davit_instance* i, davit_str region, const davit_issue* issue) {
          must_not_throw("davit_status_sink.issue",
                         [&] { object<T>(i).issue(text(region), from_abi(*issue)); });
        }};
    return &table;
  }
};

// The offering end of one stream. The Source's callbacks must stay usable until `closed` has been
// called.
class ChangeStream {
 public:
  ChangeStream() = default;
  ChangeStream(davit_ref ref, davit_change_stream* s) : ref_(ref), stream_(s) {}
  explicit operator bool() const { return stream_ != nullptr; }
  // An error: the sink does not understand it, and no change may follow.
  Result<> begin(const Begin& b) const {
    std::vector<davit_cursor> history;
    for (const Cursor& link : b.history) history.push_back(to_abi(link));
    const davit_begin abi = {sizeof abi, b.snapshot ? DAVIT_BEGIN_SNAPSHOT : 0u, to_abi(b.at),
                             history.data(), history.size()};
    return checked([&](davit_error* e) { return table()->begin(ref_.self, stream_, &abi, e); });
  }
  // False: there is no room, the change is not taken, and wake follows.
  bool offer(const Change& c) const {
    const auto annotations = to_abi(c.annotations);
    const davit_change abi = {sizeof abi,         static_cast<int32_t>(c.type),
                              to_abi(c.key),      str(c.ns),
                              str(c.name),        c.version.value(),
                              c.payload.get(),    str(c.state),
                              annotations.data(), annotations.size()};
    return table()->offer(ref_.self, stream_, &abi) == DAVIT_OK;
  }
  // An error: the sink does not understand it, as if it was never sent.
  Result<> bookmark(const Bookmark& b) const {
    const davit_bookmark abi = {sizeof abi,
                                (b.snapshot_end ? DAVIT_BOOKMARK_SNAPSHOT_END : 0u) |
                                    (b.live_count ? DAVIT_BOOKMARK_COUNTED : 0u) |
                                    (b.quiet ? DAVIT_BOOKMARK_QUIET : 0u),
                                to_abi(b.at), b.live_count.value_or(0)};
    return checked([&](davit_error* e) { return table()->bookmark(ref_.self, stream_, &abi, e); });
  }
  void close() const { table()->close(ref_.self, stream_); }

 private:
  const davit_change_sink* table() const {
    return static_cast<const davit_change_sink*>(ref_.vtable);
  }
  davit_ref ref_{};
  davit_change_stream* stream_ = nullptr;
};

// Calls a change sink.
class ChangeClient {
 public:
  ChangeClient() = default;
  explicit ChangeClient(davit_ref ref) : ref_(ref) {}
  static Result<ChangeClient> find(const Host& host, std::string_view instance) {
    auto ref = davit::find(host, instance, DAVIT_CHANGE_SINK);
    if (!ref.ok()) return ref.error();
    return ChangeClient(*ref);
  }
  Result<ChangeStream> open(std::string_view kind, std::string_view region, Source source) const {
    static const davit_change_source callbacks = {
        sizeof callbacks, 0,
        [](void* self) {
          must_not_throw("davit_change_source.wake", [&] { static_cast<Source*>(self)->wake(); });
        },
        [](void* self, uint64_t v, int32_t o) {
          must_not_throw("davit_change_source.settled", [&] {
            static_cast<Source*>(self)->settled(Version(v), static_cast<Outcome>(o));
          });
        },
        [](void* self) {
          must_not_throw("davit_change_source.closed", [&] {
            std::unique_ptr<Source> s(static_cast<Source*>(self));
            if (s->closed) s->closed();
          });
        }};
    auto held = std::make_unique<Source>(std::move(source));
    davit_change_stream* out = nullptr;
    auto r = checked([&](davit_error* e) {
      return static_cast<const davit_change_sink*>(ref_.vtable)
          ->open(ref_.self, str(kind), str(region), &callbacks, held.get(), &out, e);
    });
    if (!r.ok()) return r.error();
    held.release();
    return ChangeStream(ref_, out);
  }

 private:
  davit_ref ref_{};
};

// Calls a status sink. abi/sink.h says what each member does.
class StatusClient {
 public:
  StatusClient() = default;
  explicit StatusClient(davit_ref ref) : ref_(ref) {}
  static Result<StatusClient> find(const Host& host, std::string_view instance) {
    auto ref = davit::find(host, instance, DAVIT_STATUS_SINK);
    if (!ref.ok()) return ref.error();
    return StatusClient(*ref);
  }
  Result<> offer(const Status& s) const {
    const StatusView v(s);
    return checked([&](davit_error* e) { return table()->offer(ref_.self, &v.abi, e); });
  }
  void advance(std::string_view region, const KindProgress& p) const {
    const davit_kind_progress abi = to_abi(p);
    table()->advance(ref_.self, str(region), &abi);
  }
  void issue(std::string_view region, const Issue& i) const {
    const davit_issue abi = to_abi(i);
    table()->issue(ref_.self, str(region), &abi);
  }

 private:
  const davit_status_sink* table() const {
    return static_cast<const davit_status_sink*>(ref_.vtable);
  }
  davit_ref ref_{};
};

}  // namespace davit::sink
