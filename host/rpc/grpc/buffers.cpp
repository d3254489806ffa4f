#include "buffers.hpp"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <array>
#include <atomic>

namespace davit::host {

namespace {

constexpr size_t copied_outgoing_max = 64;     // about the cost of a slice's bookkeeping
constexpr size_t copied_incoming_max = 4'096;  // half of the smallest chunk that gRPC reads

grpc::Slice slice_of(davit_buf* part) {
  if (part->size <= copied_outgoing_max) return grpc::Slice(part->data, part->size);
  part->retain(part);
  return grpc::Slice(
      const_cast<uint8_t*>(part->data), part->size,
      [](void* p) {
        auto* buf = static_cast<davit_buf*>(p);
        buf->release(buf);
      },
      part);
}

// A message that stays in the memory that gRPC received it in.
struct SliceBuf {
  davit_buf abi{};  // first: the ABI has a pointer to it
  grpc::Slice slice;
  std::atomic<uint32_t> references{0};

  explicit SliceBuf(grpc::Slice s) : slice(std::move(s)) {
    abi.struct_size = sizeof abi;
    abi.data = slice.begin();
    abi.size = slice.size();
    abi.retain = [](davit_buf* b) {
      reinterpret_cast<SliceBuf*>(b)->references.fetch_add(1, std::memory_order_relaxed);
    };
    abi.release = [](davit_buf* b) {
      auto* self = reinterpret_cast<SliceBuf*>(b);
      if (self->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete self;
    };
  }
};

}  // namespace

grpc::ByteBuffer to_grpc(davit_buf* const* parts, size_t parts_count) {
  constexpr size_t usual = 16;
  if (parts_count <= usual) {
    std::array<grpc::Slice, usual> slices;
    for (size_t i = 0; i < parts_count; ++i) slices[i] = slice_of(parts[i]);
    return grpc::ByteBuffer(slices.data(), parts_count);
  }
  std::vector<grpc::Slice> slices;
  slices.reserve(parts_count);
  for (size_t i = 0; i < parts_count; ++i) slices.push_back(slice_of(parts[i]));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

Buffer from_grpc(grpc::ByteBuffer& message) {
  grpc::Slice slice;
  if (message.Length() > copied_incoming_max && message.TrySingleSlice(&slice).ok()) {
    message.Clear();
    return Buffer(&(new SliceBuf(std::move(slice)))->abi);
  }
  std::string copy;
  copy.reserve(message.Length());
  std::vector<grpc::Slice> slices;
  if (message.Dump(&slices).ok()) {
    for (const auto& s : slices) copy.append(reinterpret_cast<const char*>(s.begin()), s.size());
  }
  message.Clear();
  return Buffer::of(std::move(copy));
}

}  // namespace davit::host
