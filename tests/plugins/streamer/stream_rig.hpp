// The plugin as a whole for its tests: real store, fake transport, a clock that stands still.
#pragma once

#include <davit/v1/agent.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::streamer {
using testing::Config;
using testing::ServerRig;

constexpr const char* watch_path = "davit.v1.AgentService/Watch";
constexpr const char* get_path = "davit.v1.AgentService/Get";

inline std::string watch_request(Cursor cursor = {}, const std::string& kind = "widget") {
  v1::WatchRequest r;
  auto* s = r.add_subscriptions();
  s->set_kind(kind);
  s->mutable_cursor()->set_incarnation(cursor.incarnation.value());
  s->mutable_cursor()->set_version(cursor.version.value());
  return r.SerializeAsString();
}

// "+w_1 -w_2 =w_3 end(2) gadget!3": what the messages since the last look say. The last one: the
// part of this kind has ended with this code.
inline std::string show(davit_rpc_call& call) {
  std::string out;
  for (auto& text : call.messages) {
    v1::Frame f;
    EXPECT_TRUE(f.ParseFromString(text));
    if (f.has_end()) {
      out += f.kind() + "!" + std::to_string(f.end().code()) + " ";
      continue;
    }
    EXPECT_EQ(f.kind(), "widget");
    for (const auto& r : f.records()) {
      out += r.has_apply() ? "+" : r.has_delete_() ? "-" : "=";
      out += r.id() + " ";
    }
    if (!f.has_bookmark()) continue;
    switch (f.bookmark().type()) {
      case v1::Bookmark::TYPE_BEGIN_SNAPSHOT:
        out += "begin ";
        break;
      case v1::Bookmark::TYPE_BEGIN_TAIL:
        out += "tail ";
        break;
      case v1::Bookmark::TYPE_SNAPSHOT_END:
        out += "end(" + std::to_string(f.bookmark().live_count()) + ") ";
        break;
      default:
        out += "mark(" + std::to_string(f.bookmark().at().version()) + ") ";
    }
  }
  call.messages.clear();
  if (!out.empty()) out.pop_back();
  return out;
}

class StreamTest : public ::testing::Test {
 protected:
  std::unique_ptr<ServerRig> start(Config config = {}) {
    auto rig = std::make_unique<ServerRig>(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE,
                                           std::move(config));
    rig->up();
    return rig;
  }
  Incarnation incarnation(ServerRig& rig) { return rig.storage.head()->head.incarnation; }
};

}  // namespace davit::streamer
