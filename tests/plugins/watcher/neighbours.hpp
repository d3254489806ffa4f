// What a stream of the tests works with: the channel and the sink of its host.
#pragma once

#include "fake_sink.hpp"
#include "stream.hpp"

namespace davit::watcher {

inline std::shared_ptr<const Neighbours> neighbours(
    const testing::TestHost& host, Timing timing = {},
    std::function<void(const std::string&, bool, const std::string&)> health =
        [](const std::string&, bool, const std::string&) {}) {
  return std::make_shared<Neighbours>(Neighbours{
      host.host(), *rpc::Channel::find(host.host(), "control"),
      *sink::ChangeClient::find(host.host(), "applier"), std::nullopt, timing, std::move(health)});
}

}  // namespace davit::watcher
