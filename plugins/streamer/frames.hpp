// Turns changes and bookmarks into messages: Frame for davit.v1, the kind's state message for
// ctrl.v1. Pure, but for what kinds remember (Additions).
#pragma once

#include <span>

#include "classifier.hpp"
#include "pager.hpp"
#include "ring.hpp"

namespace davit::streamer {

// --- davit.v1
// -----------------------------------------------------------------------------------------------
Buffer encode_frame(const Topic& topic, std::span<const Change* const> changes);
// A Frame with nothing but its bookmark. Without the kind it may be appended to the bytes of
// encode_frame: together they are one message.
Buffer encode_bookmark(std::string_view kind, const Pager::Todo& mark, const History& history = {});
// GetResponse; NULL: there is none.
std::string encode_get(const Change* change, Cursor at);

// --- ctrl.v1
// -----------------------------------------------------------------------------------------------
// The state message of one apply or delete; version 0 leaves the version out.
Result<std::string> encode_state(const Classifier::Kind& kind, const Change& change,
                                 uint64_t version);
// The same for an agent of Krane's: with the fields in which its kind says it there. An error: such
// an agent would refuse it and what follows, and is not told.
Result<std::string> encode_krane_state(const Classifier::Kind& kind, const Change& change,
                                       uint64_t version);
// A state message with nothing but a version: "move your cursor".
Buffer encode_state_bookmark(uint64_t version);

}  // namespace davit::streamer
