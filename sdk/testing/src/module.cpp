#include "davit/testing/module.hpp"

#include "davit/operation.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "davit/testing/contract.hpp"

namespace davit::testing {

Result<Loaded> Loaded::open(const std::string& path) {
  auto note = read_note(path);
  if (!note.ok()) return note.error();
  char* resolved =
      realpath(path.c_str(), nullptr);  // dlopen searches other places for a path without a slash
  void* handle =
      resolved == nullptr ? nullptr : dlopen(resolved, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  std::free(resolved);
  if (handle == nullptr)
    return Error{Code::invalid_argument, path + " does not load: " + dlerror(), path};
  void* symbol = dlsym(handle, DAVIT_PLUGIN_ENTRY);
  if (symbol == nullptr) {
    return Error{Code::invalid_argument, path + " has no symbol " DAVIT_PLUGIN_ENTRY, path};
  }
  davit_error error{};
  const auto* plugin = reinterpret_cast<davit_plugin_entry_fn>(symbol)(DAVIT_ABI_MINOR, &error);
  if (plugin == nullptr) return Error{Code::failed_precondition, path + ": " + error.message, path};
  return Loaded(path, std::move(*note), plugin);
}

Instance::~Instance() {
  if (started_) (void)stop();
  destroy();
}

Result<> Instance::create() {
  if (const auto wrong = testing::faults(plugin_); !wrong.empty())
    return Error{Code::failed_precondition, wrong.front()};
  davit_instance* made = nullptr;
  auto r = checked([&](davit_error* e) { return plugin_->create(host_.abi(), &made, e); });
  if (r.ok() && made == nullptr)
    return Error{Code::internal, "create succeeds and gives no instance (NULL)"};
  const auto faults = host_.faults();
  if (r.ok() && faults.empty()) {
    instance_ = made;
    host_.add_instance(text(host_.abi()->instance), instance_, plugin_);
    return {};
  }
  if (r.ok()) plugin_->destroy(made);
  if (faults.empty()) return r.error();
  Error e{Code::invalid_argument, {}};
  for (const auto& fault : faults) e.message += (e.message.empty() ? "" : "\n") + fault;
  return e;
}

Result<> Instance::wire() {
  Result<> r;
  if (plugin_->wire != nullptr)
    r = checked([&](davit_error* e) { return plugin_->wire(instance_, e); });
  wired_ = r.ok();
  return r;
}

Result<> Instance::timed(Step step, std::chrono::nanoseconds limit) {
  if (step == nullptr) return {};
  const Operation op((host_.now() + limit).count());
  return checked([&](davit_error* e) { return step(instance_, op.abi(), e); });
}

Result<> Instance::check(std::chrono::nanoseconds limit) {
  return timed(plugin_->check, limit);
}

Result<> Instance::start(std::chrono::nanoseconds limit) {
  auto r = timed(plugin_->start, limit);
  started_ = r.ok();
  return r;
}

Result<> Instance::stop(std::chrono::nanoseconds limit) {
  started_ = false;
  return timed(plugin_->stop, limit);
}

Result<> Instance::up() {
  if (auto r = create(); !r.ok()) return r;
  if (auto r = wire(); !r.ok()) return r;
  return start();
}

void Instance::destroy() {
  if (instance_ == nullptr) return;
  plugin_->destroy(instance_);
  instance_ = nullptr;
}

davit_ref Instance::ref(std::string_view id) const {
  return {instance_, plugin_->query(instance_, str(id)), host_.abi()->instance};
}

}  // namespace davit::testing
