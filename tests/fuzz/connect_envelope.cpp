// The bytes of a stream, and of gzip, from a caller that means no good: however they are cut, the
// messages are the same; a limit is kept; what we make ourselves can be read.
#include "choice.hpp"
#include "require.hpp"
#include "rpc/connect/envelope.hpp"
#include "rpc/connect/gzip.hpp"

namespace {

using namespace davit;

constexpr uint32_t bytes_max = 300;
constexpr uint8_t known = host::flag::compressed | host::flag::end_of_stream;

// What comes out, each message with its flags; an error ends it.
struct Read {
  std::vector<std::string> messages;
  std::string fault;
  bool operator==(const Read&) const = default;
};

void take_one(host::EnvelopeReader& reader, Read& out, bool& more) {
  const auto next = reader.next();
  more = next && next->ok();
  if (!next) return;
  if (!next->ok()) {
    fuzz::no_bug(*next, "envelope");
    out.fault = next->error().message;
    return;
  }
  fuzz::require((*next)->message.size() <= bytes_max, "no message is larger than the limit");
  fuzz::require(((*next)->flags & ~known) == 0, "flags are known");
  out.messages.push_back(static_cast<char>((*next)->flags) + (*next)->message);
}

void take_all(host::EnvelopeReader& reader, Read& out) {
  for (bool more = true; more;) take_one(reader, out, more);
}

// The messages written again are the beginning of what was fed; the rest is a part, or a fault.
void check_against(std::string_view bytes, const Read& read, bool at_a_boundary) {
  std::string written;
  for (const auto& m : read.messages) {
    const auto head =
        host::envelope_head(static_cast<uint8_t>(m[0]), static_cast<uint32_t>(m.size() - 1));
    written.append(head.data(), head.size()).append(m, 1);
  }
  fuzz::require(bytes.starts_with(written), "messages are the bytes that came");
  fuzz::require(at_a_boundary == (written.size() == bytes.size()),
                "a stream may end where no part of a message waits");
}

// The first byte is the size of the pieces, the second how often messages are asked for.
void on_envelopes(std::string_view input) {
  if (input.size() < 2) return;
  const size_t piece = static_cast<uint8_t>(input[0]) % 32 + 1;
  const size_t every = static_cast<uint8_t>(input[1]) % 4;
  const std::string_view bytes = input.substr(2);

  host::EnvelopeReader at_once(known, bytes_max), in_pieces(known, bytes_max);
  Read expected, got;
  at_once.feed(bytes);
  take_all(at_once, expected);
  size_t fed = 0;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    in_pieces.feed(bytes.substr(at, piece));
    bool more = false;
    if (every > 0 && ++fed % every == 0 && got.fault.empty()) take_one(in_pieces, got, more);
  }
  take_all(in_pieces, got);
  fuzz::require(got == expected, "in pieces or at once, it is the same");
  fuzz::require(in_pieces.at_a_boundary() == at_once.at_a_boundary(), "and it ends the same");
  check_against(bytes, expected, at_once.at_a_boundary());
  Read again;
  bool more = false;
  take_one(at_once, again, more);
  fuzz::require(again.fault == expected.fault && again.messages.empty(), "an error stays");
}

void on_gunzip(std::string_view bytes) {
  for (const size_t limit : {size_t{0}, size_t{10}, size_t{1'000}, size_t{100'000}}) {
    const auto out = host::gunzip(bytes, limit);
    if (!fuzz::no_bug(out, "gzip").ok()) continue;
    fuzz::require(out->size() <= limit, "a limit is kept");
    const auto exact = host::gunzip(bytes, out->size());
    fuzz::require(exact.ok() && *exact == *out, "what fits, fits exactly");
    if (out->empty()) continue;
    const auto less = host::gunzip(bytes, out->size() - 1);
    fuzz::require(!less.ok() && less.error().code == Code::resource_exhausted, "a byte less not");
  }
}

void on_gzip(std::string_view text) {
  const std::string packed = host::gzip(text);
  const auto back = host::gunzip(packed, text.size());
  fuzz::require(back.ok() && *back == text, "what was packed comes back");
  fuzz::require(!host::gunzip(packed + "x", text.size()).ok(), "nothing may follow");
  const std::string_view cut(packed.data(), packed.size() - 1);
  fuzz::require(!host::gunzip(cut, text.size()).ok(), "nothing may be missing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [entry, rest] = fuzz::choose(data, size);
  if (entry == "envelopes") on_envelopes(rest);
  if (entry == "gunzip") on_gunzip(rest);
  if (entry == "gzip") on_gzip(rest);
  return 0;
}
