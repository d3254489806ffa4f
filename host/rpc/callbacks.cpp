#include "callbacks.hpp"

#include "runtime/runtime.hpp"

namespace davit::host {

Callbacks::Callbacks(davit_strand* strand, const davit_rpc_handler* handler, void* self)
    : strand_(strand), handler_(handler), self_(self) {
  Runtime::retain(strand_);
}

Callbacks::~Callbacks() {
  if (strand_ != nullptr) Runtime::release(strand_);
}

Callbacks::Callbacks(Callbacks&& o) noexcept
    : strand_(std::exchange(o.strand_, nullptr)), handler_(o.handler_), self_(o.self_) {}

Callbacks& Callbacks::operator=(Callbacks&& o) noexcept {
  std::swap(strand_, o.strand_);
  std::swap(handler_, o.handler_);
  std::swap(self_, o.self_);
  return *this;
}

void Callbacks::post(davit_task task, void* arg) const {
  Runtime::post(strand_, task, arg);
}

void Callbacks::post_last(davit_task task, void* arg) const {
  davit_strand* strand = strand_;
  Runtime::retain(strand);  // the task may release this object's reference
  Runtime::post(strand, task, arg);
  Runtime::release(strand);
}

void Callbacks::message(davit_buf* m) const {
  if (handler_->on_message != nullptr) handler_->on_message(self_, m);
}

void Callbacks::writable() const {
  if (handler_->on_writable != nullptr) handler_->on_writable(self_);
}

void Callbacks::cancel() const {
  if (handler_->on_cancel != nullptr) handler_->on_cancel(self_);
}

void Callbacks::done(const End& end) const {
  if (handler_->on_done == nullptr) return;
  const auto pairs = to_abi(end.trailers);
  std::vector<davit_rpc_detail> details;
  for (const Detail& d : end.details) details.push_back({str(d.type), bytes(d.value)});
  const davit_rpc_end abi = {sizeof abi,       static_cast<int32_t>(end.code),
                             str(end.message), pairs.data(),
                             pairs.size(),     details.data(),
                             details.size()};
  handler_->on_done(self_, &abi);
}

void Callbacks::headers(const Pairs& headers) const {
  if (handler_->on_headers == nullptr) return;
  const auto pairs = to_abi(headers);
  handler_->on_headers(self_, pairs.data(), pairs.size());
}

}  // namespace davit::host
