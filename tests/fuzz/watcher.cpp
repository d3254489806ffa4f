// What the agent makes of a server's messages, in both dialects, for every kind: a hostile or
// broken server may end the stream, and no more.
#include "batch.hpp"
#include "choice.hpp"
#include "kinds.hpp"
#include "require.hpp"
#include "wire/fields.hpp"

namespace {

using namespace davit;

const std::vector<watcher::Dialect>& ctrl_dialects() {
  static const fuzz::Kinds kinds(FUZZ_KINDS);
  static const auto dialects = [] {
    std::vector<watcher::Dialect> out;
    for (const auto& k : kinds.all()) {
      if (!k.client.description().ctrl_v1) continue;
      auto dialect = watcher::ctrl_v1(k.client, k.schema, "us-east-1");
      fuzz::require(dialect.ok(), "a kind that is on the ctrl.v1 wire has a dialect");
      out.push_back(std::move(*dialect));
    }
    return out;
  }();
  return dialects;
}

void check(const Result<watcher::Batch>& batch) {
  if (!fuzz::no_bug(batch, "decode").ok()) return;
  for (const auto& item : batch->items) {
    fuzz::require(item.change.key.region == "us-east-1",
                  "a change stays in the region of its stream");
    fuzz::require(item.fault.find("exception") == std::string::npos,
                  "a change's fault is not a bug", item.fault);
  }
}

void on_ctrl(std::string_view bytes) {
  for (const auto& dialect : ctrl_dialects()) {
    const auto batch = dialect.decode(Buffer::of(std::string(bytes)));
    check(batch);
    if (!batch.ok()) continue;
    fuzz::require(batch->items.size() + (batch->mark ? 1 : 0) == 1,
                  "a state is one change or one mark");
  }
}

void on_frame(std::string_view bytes) {
  static const watcher::Dialect dialect = watcher::davit_v1("deployment", "us-east-1", "agent");
  check(dialect.decode(Buffer::of(std::string(bytes))));
}

// What was read, written again, reads the same.
void on_fields(std::string_view bytes) {
  std::string copy;
  const auto write = [&copy](const wire::Field& f) {
    if (f.bytes.empty()) wire::put_integer(copy, f.number, f.integer);
    if (!f.bytes.empty()) wire::put_bytes(copy, f.number, f.bytes);
  };
  wire::each_field(bytes, write);
  const std::string first = std::move(copy);
  copy.clear();
  fuzz::require(wire::each_field(first, write), "what is written can be read");
  fuzz::require(copy == first, "fields survive being written and read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [entry, rest] = fuzz::choose(data, size);
  if (entry == "state") on_ctrl(rest);
  if (entry == "frame") on_frame(rest);
  if (entry == "fields") on_fields(rest);
  return 0;
}
