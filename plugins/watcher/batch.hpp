// Batch: the content of one message of a stream, in either dialect: changes in ascending order of
// their versions, then at most one mark. Dialect: how to ask a peer for a kind's stream and how to
// read its messages. davit_v1.cpp and ctrl_v1.cpp make one each. stream.cpp uses a dialect without
// knowing which.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <davit/kind.hpp>
#include <davit/rpc.hpp>
#include <davit/sink.hpp>

#include "position_tracker.hpp"

namespace davit::watcher {

struct Item {
  sink::Change change;
  std::string fault;  // why the change cannot be read or named; empty: it can
};

// A bookmark.
struct Mark {
  enum class Type { progress, begin_snapshot, begin_tail, snapshot_end };
  Type type = Type::progress;
  Cursor at;
  std::optional<uint64_t> live_count = std::nullopt;
  History history = {};  // begin_snapshot, begin_tail
};

struct Batch {
  std::vector<Item> items;
  std::optional<Mark> mark;
  std::optional<rpc::End> end;  // the peer has ended this kind's part of the stream
};

struct Dialect {
  std::string path;  // of the watch method
  Pairs metadata;    // sent with each call
  bool bookmarks = true;
  std::function<Buffer(Cursor)> request;
  // The instance on whose pool `decode` runs, because it asks that instance's kind. Empty: it asks
  // none and does not block.
  std::string pool{};
  // A retryable error: the kind cannot answer now, so decode the message again later. Any other
  // error: the stream must end.
  std::function<Result<Batch>(const Buffer& message)> decode;
  // Only for a peer without bookmarks: the point query of one record. Its answer is decoded like a
  // message of the stream; it has no version.
  std::string get_path;
  std::function<std::string(const std::string& id)> get_request;
};

Dialect davit_v1(const std::string& kind, const std::string& region, const std::string& agent);
// FAILED_PRECONDITION when the kind is not on that wire. The agent's name goes into the header
// x-davit-agent: a Davit server then sends records unchanged, as it does not for Krane's agents.
Result<Dialect> ctrl_v1(const kind::Client& kind, const Schema& schema, const std::string& region,
                        const std::string& agent = {});

}  // namespace davit::watcher
