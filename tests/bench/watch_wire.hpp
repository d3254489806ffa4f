// The wires that the measurements watch and write through: davit.v1, ctrl.v1, etcd's, and the bare
// one of floor-server. A change carries a number, so that who receives it knows when it was asked
// for.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace davit::bench {

std::string region_name(size_t index);

struct Place {
  uint64_t incarnation = 0, version = 0;
};

class WatchWire {
 public:
  virtual ~WatchWire() = default;
  virtual std::string watch_path() const = 0;
  virtual grpc::ByteBuffer watch_request(const std::string& region, Place from) const = 0;
  // The peer keeps its side of the call open.
  virtual bool keeps_writing() const { return false; }
  // Calls `arrived` with the number of each change in the message and moves the place; false: it
  // cannot be read.
  virtual bool read(const grpc::ByteBuffer& message, Place& place,
                    const std::function<void(uint64_t number)>& arrived) const = 0;

  virtual std::string write_path() const = 0;
  // `count` changes with ascending numbers from `number`; the key of each is its number modulo
  // `keys`.
  virtual grpc::ByteBuffer write_request(const std::string& region, uint64_t number, uint64_t count,
                                         uint64_t keys) const = 0;
  // Why the answer to a write means that it was not taken; empty: it was.
  virtual std::string write_fault(const grpc::ByteBuffer& answer) const = 0;
};

// "davit.v1", "ctrl.v1", "etcd" or "bare"; throws for another name.
std::unique_ptr<WatchWire> watch_wire(const std::string& name);

}  // namespace davit::bench
