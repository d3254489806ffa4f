// Batch: what one message of a stream says, in either dialect: changes in ascending order, then at
// most one mark. Dialect: how to ask a peer for a kind's stream and how to read its messages.
// davit_v1.cpp and ctrl_v1.cpp make one each; stream.cpp knows neither.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <davit/kind.hpp>
#include <davit/sink.hpp>

#include "cursor.hpp"

namespace davit::watcher {

struct Item {
  sink::Change change;
  std::string fault;  // why the change cannot even be named; empty: it can
};

struct Mark {
  enum class Type { progress, begin_snapshot, begin_tail, snapshot_end };
  Type type = Type::progress;
  Position at;
  std::optional<uint64_t> live_count = std::nullopt;
  History history = {};  // begin_snapshot
};

struct Batch {
  std::vector<Item> items;
  std::optional<Mark> mark;
};

struct Dialect {
  std::string path;  // of the method
  Pairs metadata;    // of each call
  bool bookmarks = true;
  std::function<Buffer(Position)> request;
  // An error is the peer's fault: the stream is not to be trusted any further.
  std::function<Result<Batch>(const Buffer& message)> decode;
  // Of a peer without bookmarks: how to ask for one record. Its answer is decoded like a message of
  // the stream, without a version.
  std::string get_path;
  std::function<std::string(const std::string& id)> get_request;
};

Dialect davit_v1(const std::string& kind, const std::string& region, const std::string& agent);
// FAILED_PRECONDITION when the kind is not on that wire. The agent's name goes in a header: a
// server of ours then sends what it does not send to agents of Krane's.
Result<Dialect> ctrl_v1(const kind::Client& kind, const Schema& schema, const std::string& region,
                        const std::string& agent = {});

}  // namespace davit::watcher
