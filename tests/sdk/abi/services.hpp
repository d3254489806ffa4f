// What TestHost does not have: a codec and an RPC layer, for the plugin "every" and one thread. The
// codec answers with what it was given. Of the RPC layer the test plays the peer: it calls the
// method that the plugin serves, and answers the call that the plugin starts.
#pragma once

#include <davit/rpc.hpp>

#include "values.hpp"

struct davit_rpc_call {
  const davit_rpc_handler* handler = nullptr;
  void* self = nullptr;
};
struct davit_rpc_channel {};

namespace davit::test {

inline const davit_codec* codec() {
  static const davit_codec table = {
      sizeof(davit_codec),
      [](const davit_host*, davit_bytes set, const davit_str* fields, size_t count,
         const davit_schema** out, davit_error* e) {
        return guard(e, [&]() -> Result<> {
          static std::string loaded;
          loaded = std::string(view(set)) + " " + std::to_string(count) + " " + text(fields[0]);
          *out = reinterpret_cast<const davit_schema*>(&loaded);
          return {};
        });
      },
      [](const davit_schema* s, davit_str type, davit_bytes m, const davit_sink* out,
         davit_error*) -> int32_t {
        emit(out, *reinterpret_cast<const std::string*>(s) + " " + text(type) + " ");
        emit(out, view(m));
        return DAVIT_OK;
      },
      [](const davit_schema*, davit_str, davit_str json, const davit_sink* out,
         davit_error*) -> int32_t {
        emit(out, view(json));
        return DAVIT_OK;
      },
      [](const davit_schema*, davit_str, davit_bytes a, davit_bytes b) -> int32_t {
        return view(a) == view(b);
      }};
  return &table;
}

// The method that is served, the call that is started, and what the plugin has done to its calls.
class Rpc {
 public:
  Rpc() { table_.struct_size = sizeof table_; }
  // The table's slots are for the one Rpc that is alive.
  const davit_rpc* table();

  davit_rpc_method method{};
  davit_rpc_call served, started;
  std::string done;

 private:
  static inline Rpc* one = nullptr;
  static void note(const std::string& what) { one->done += what + "\n"; }
  static const char* end(const davit_rpc_call* c) {
    return c == &one->served ? "served" : "started";
  }
  static void serving(davit_rpc& t);
  static void calling(davit_rpc& t);
  davit_rpc table_{};
  davit_str regions_[2] = {{"r", 1}, {"s", 1}};
  davit_identity identity_{sizeof(davit_identity), 2, {"me", 2}, {"agent", 5}, regions_};
  davit_rpc_channel channel_;
};

inline void Rpc::serving(davit_rpc& t) {
  t.serve = [](const davit_host*, const davit_rpc_method* m, davit_error*) -> int32_t {
    note("serve " + values::words(text(m->path), text(m->request_type), text(m->response_type),
                                  std::string(view(m->descriptor_set)), text(m->role), m->streaming,
                                  m->request_bytes_max));
    one->method.self = m->self;
    one->method.on_call = m->on_call;
    one->method.release = m->release;
    return DAVIT_OK;
  };
  t.accept = [](davit_rpc_call* c, davit_strand*, const davit_rpc_handler* h, void* self) {
    *c = {h, self};
    note("accept");
  };
  t.identity = [](const davit_rpc_call*) -> const davit_identity* { return &one->identity_; };
  t.metadata = [](const davit_rpc_call*, davit_str key) { return key; };
  t.peer = [](const davit_rpc_call*) { return davit_str{"peer", 4}; };
  t.region_known = [](const davit_host*, davit_str region) -> int32_t {
    return view(region) == "r";
  };
  t.finish = [](davit_rpc_call*, const davit_rpc_end* e) {
    note("finish " + values::words(e->code, text(e->message),
                                   from_abi(e->trailers, e->trailers_count), e->details_count,
                                   text(e->details->type), std::string(view(e->details->value))));
  };
  t.headers = [](davit_rpc_call*, const davit_pair* h, size_t count) {
    note("headers " + values::words(from_abi(h, count)));
  };
  t.deadline_ns = [](const davit_rpc_call*) { return int64_t{161}; };
}

inline void Rpc::calling(davit_rpc& t) {
  t.channel = [](const davit_host*, davit_str name, davit_rpc_channel** out,
                 davit_error*) -> int32_t {
    note("channel " + text(name));
    *out = &one->channel_;
    return DAVIT_OK;
  };
  t.channel_region = [](const davit_rpc_channel*) { return davit_str{"r", 1}; };
  t.channel_platform = [](const davit_rpc_channel*) { return davit_str{"p", 1}; };
  t.channel_agent = [](const davit_rpc_channel*) { return davit_str{"a", 1}; };
  t.channel_protocol = [](const davit_rpc_channel*) { return davit_str{"davit.v1", 8}; };
  t.start = [](davit_rpc_channel*, const davit_rpc_start* s, davit_strand*,
               const davit_rpc_handler* h, void* self) {
    note("start " + values::words(text(s->path), from_abi(s->metadata, s->metadata_count),
                                  s->deadline_ns, s->streaming));
    one->started = {h, self};
    return &one->started;
  };
  t.half_close = [](davit_rpc_call*) { note("half_close"); };
  t.cancel = [](davit_rpc_call*) { note("cancel"); };
  t.read = [](davit_rpc_call* c) { note(std::string("read ") + end(c)); };
  t.write = [](davit_rpc_call* c, davit_buf* const* parts, size_t count) {
    std::string all;
    for (size_t i = 0; i < count; ++i) all += Buffer(parts[i]).view();
    note(std::string("write ") + end(c) + " " + all);
  };
}

inline const davit_rpc* Rpc::table() {
  one = this;
  serving(table_);
  calling(table_);
  return &table_;
}

}  // namespace davit::test
