#include "envelope.hpp"

#include <algorithm>

#include "unwanted.hpp"

namespace davit::host {

namespace {

constexpr size_t head_size = 5;

// The size of the message whose head is at `head`.
uint32_t message_size(const char* head) {
  uint32_t size = 0;
  for (size_t i = 1; i < head_size; ++i) size = size << 8 | static_cast<uint8_t>(head[i]);
  return size;
}

// What is wrong with the first waiting head, if it is complete.
std::optional<Error> fault_of(std::string_view waiting, uint8_t known, uint32_t bytes_max) {
  if (waiting.size() < head_size) return std::nullopt;
  const auto flags = static_cast<uint8_t>(waiting.front());
  if ((flags & ~known) != 0) {
    return Error{Code::invalid_argument,
                 "a message has flags that are not known here: " + std::to_string(flags)};
  }
  const uint32_t size = message_size(waiting.data());
  if (size <= bytes_max) return std::nullopt;
  return Error{Code::resource_exhausted, "message of " + std::to_string(size) +
                                             " bytes is larger than the limit of " +
                                             std::to_string(bytes_max) + " bytes"};
}

}  // namespace

std::array<char, 5> envelope_head(uint8_t flags, uint32_t size) {
  return {static_cast<char>(flags), static_cast<char>(size >> 24), static_cast<char>(size >> 16),
          static_cast<char>(size >> 8), static_cast<char>(size)};
}

Outgoing in_envelope(uint8_t flags, Buffer message) {
  const auto head = envelope_head(flags, static_cast<uint32_t>(message.size()));
  return {head, head.size(), std::move(message)};
}

void EnvelopeReader::feed(std::string_view bytes) {
  if (fault_) {
    unwanted_ -= std::min(unwanted_, bytes.size());
    return;
  }
  // Bytes that were read are erased when they are the larger part: each byte moves once on average.
  if (read_ > bytes_.size() - read_) {
    bytes_.erase(0, read_);
    read_ = 0;
  }
  bytes_.append(bytes);
  look_at_head();
}

void EnvelopeReader::look_at_head() {
  if (fault_) return;
  const std::string_view waiting = std::string_view(bytes_).substr(read_);
  fault_ = fault_of(waiting, known_, bytes_max_);
  if (!fault_) return;
  if (fault_->code == Code::resource_exhausted) {
    too_large_ = message_size(waiting.data());
    const size_t whole = std::min(head_size + *too_large_, unwanted_bytes_max);
    unwanted_ = whole - std::min(whole, waiting.size());
  }
  std::string().swap(bytes_);
  read_ = 0;
}

std::optional<Result<Envelope>> EnvelopeReader::next() {
  look_at_head();
  if (fault_ && unwanted_ > 0) return std::nullopt;
  if (fault_) return *fault_;
  const size_t waiting = bytes_.size() - read_;
  if (waiting < head_size) return std::nullopt;
  const uint32_t size = message_size(bytes_.data() + read_);
  if (waiting - head_size < size) return std::nullopt;

  Envelope out;
  out.flags = static_cast<uint8_t>(bytes_[read_]);
  if (waiting - head_size == size) {
    // The last message takes the memory over: a stream that is silent for days keeps none.
    bytes_.erase(0, read_ + head_size);
    out.message = std::move(bytes_);
    bytes_.clear();
    read_ = 0;
  } else {
    out.message = bytes_.substr(read_ + head_size, size);
    read_ += head_size + size;
  }
  return out;
}

size_t EnvelopeReader::holds() const {
  if (waiting() < head_size) return waiting();
  const size_t size = message_size(bytes_.data() + read_);
  return std::max(waiting(), size > bytes_max_ ? 0 : head_size + size);
}

bool EnvelopeReader::at_a_boundary() const {
  if (fault_) return false;
  size_t at = read_;
  while (bytes_.size() - at >= head_size) {
    const size_t rest = bytes_.size() - at - head_size;
    const uint32_t size = message_size(bytes_.data() + at);
    if (rest < size) return false;
    at += head_size + size;
  }
  return at == bytes_.size();
}

}  // namespace davit::host
