// The encoders: they turn changes and bookmarks into the messages of a stream. davit.v1 has Frame,
// ctrl.v1 has the kind's state message. Pure, apart from the cache of each kind (Additions).
#pragma once

#include <span>

#include "classifier.hpp"
#include "pager.hpp"
#include "ring.hpp"

namespace davit::streamer {

// --- davit.v1 ---------------------------------------------------------------------------------
Buffer encode_frame(const Topic& topic, std::span<const Change* const> changes);
// A Frame with only a bookmark. With an empty kind its bytes may follow those of encode_frame: the
// two together are one message.
Buffer encode_bookmark(std::string_view kind, const Pager::Todo& mark, const History& history = {});
// A Frame that says why the subscription of this kind has ended.
Buffer encode_end(std::string_view kind, const Error& error);
// GetResponse. `change` is NULL when there is no such record.
std::string encode_get(const Change* change, Cursor at);

// --- ctrl.v1 ----------------------------------------------------------------------------------
// The state message of one apply or delete. Version 0 leaves the version out.
Result<std::string> encode_state(const Classifier::Kind& kind, const Change& change,
                                 Version version);
// The same for a Krane agent, in the fields that it knows (the kind's apply_message). An error
// means that the agent would refuse the message and stop, so the record must not be sent.
Result<std::string> encode_krane_state(const Classifier::Kind& kind, const Change& change,
                                       Version version);
// A state message with only a version: "move your cursor".
Buffer encode_state_bookmark(Version version);

}  // namespace davit::streamer
