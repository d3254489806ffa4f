// A strand and a handler that writes down what it is told, for the rules of calls without a
// network.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <string>

#include "rpc/call.hpp"
#include "runtime/runtime.hpp"

namespace davit::host {

class Recorder {
 public:
  Recorder() : runtime_(2), strand_(runtime_.strand()) {}
  ~Recorder() { Runtime::release(strand_); }

  davit_strand* strand() const { return strand_; }
  // What was told so far, once everything that is posted has run: "message:x writable cancel
  // done:14".
  std::string told() {
    std::promise<void> reached;
    Runtime::post(
        strand_, [](void* p) { static_cast<std::promise<void>*>(p)->set_value(); }, &reached);
    reached.get_future().wait();
    const std::lock_guard lock(mutex_);
    return told_;
  }
  // As long as it lives nothing is told.
  class Halt {
   public:
    explicit Halt(const Recorder& r) {
      Runtime::post(
          r.strand(), [](void* p) { static_cast<Halt*>(p)->halt(); }, this);
    }
    ~Halt() {
      go_.set_value();
      gone_.get_future().wait();
    }
    Halt(const Halt&) = delete;
    Halt& operator=(const Halt&) = delete;

   private:
    void halt() {
      go_.get_future().wait();
      gone_.set_value();
    }
    std::promise<void> go_, gone_;
  };
  static const davit_rpc_handler* handler() {
    static const davit_rpc_handler table = {
        sizeof table,
        0,
        [](void* self, davit_buf* m) {
          of(self).tell(m == nullptr
                            ? "end"
                            : "message:" +
                                  std::string(reinterpret_cast<const char*>(m->data), m->size));
        },
        [](void* self) { of(self).tell("writable"); },
        [](void* self) { of(self).tell("cancel"); },
        [](void* self, const davit_rpc_end* end) {
          of(self).tell("done:" + std::to_string(end->code));
        },
        [](void* self, const davit_pair*, size_t count) {
          of(self).tell("headers:" + std::to_string(count));
        }};
    return &table;
  }

 private:
  static Recorder& of(void* self) { return *static_cast<Recorder*>(self); }
  void tell(const std::string& what) {
    const std::lock_guard lock(mutex_);
    told_ += (told_.empty() ? "" : " ") + what;
  }
  Runtime runtime_;
  davit_strand* strand_;
  std::mutex mutex_;
  std::string told_;
};

inline void write_text(davit_rpc_call& call, std::string text) {
  const Buffer b = Buffer::of(std::move(text));
  davit_buf* part = b.get();
  call.write(&part, 1);
}

}  // namespace davit::host
