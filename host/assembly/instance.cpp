#include "instance.hpp"

#include <algorithm>

#include "services/log.hpp"

namespace davit::host {
namespace {

// Calls a slot. A slot that is absent succeeds.
template <class Slot, class... Args>
Result<> call(Slot slot, Args... args) {
  if (slot == nullptr) return {};
  davit_error error{};
  int32_t code = DAVIT_OK;
  try {
    code = slot(args..., &error);
  } catch (const std::exception& e) {
    return Error{Code::internal, std::string("threw an exception through the ABI: ") + e.what()};
  } catch (...) {
    return Error{Code::internal, "threw an exception through the ABI"};
  }
  if (code == DAVIT_OK) return {};
  Error e = take(error, code);
  if (e.message.empty()) e.message = "failed with code " + std::to_string(code) + " and no message";
  return e;
}

}  // namespace

Instance::~Instance() {
  destroy();
}

Result<> Instance::create() {
  const davit_host* host = &host_.abi;
  Result<> made = call(module_.plugin->create, host, &self_);
  if (!made.ok()) {
    self_ = nullptr;
    return made;
  }
  if (self_ == nullptr) return Error{Code::internal, "create succeeded without an instance"};
  return check_roles();
}

Result<> Instance::check_roles() const {
  const auto& said = module_.note.roles;
  for (const std::string& word : said) {
    if (role(interface_of(word)) == nullptr) {
      return Error{Code::failed_precondition,
                   "the note of module \"" + module_.note.name + "\" names the role " + word +
                       ", its query does not answer " + interface_of(word) +
                       ": correct ROLES of davit_add_plugin()"};
    }
  }
  for (const std::string& word : known_roles()) {
    if (role(interface_of(word)) != nullptr &&
        std::find(said.begin(), said.end(), word) == said.end()) {
      return Error{Code::failed_precondition,
                   "module \"" + module_.note.name + "\" plays the role " + word +
                       ", which its note does not name: correct ROLES of davit_add_plugin()"};
    }
  }
  return {};
}

Result<> Instance::wire() {
  return call(module_.plugin->wire, self_);
}
Result<> Instance::check(const Operation& op) {
  return call(module_.plugin->check, self_, op.abi());
}
Result<> Instance::start(const Operation& op) {
  return call(module_.plugin->start, self_, op.abi());
}
Result<> Instance::stop(const Operation& op) {
  return call(module_.plugin->stop, self_, op.abi());
}

void Instance::destroy() {
  if (self_ == nullptr) return;
  try {
    module_.plugin->destroy(self_);
  } catch (const std::exception& e) {  // the instance is gone, and no code uses it any more
    host_.core->log.error(host_.name, "threw an exception in destroy", {{"what", e.what()}});
  } catch (...) {
    host_.core->log.error(host_.name, "threw an exception in destroy");
  }
  self_ = nullptr;
}

const void* Instance::role(std::string_view interface) const {
  try {
    return self_ == nullptr ? nullptr : module_.plugin->query(self_, str(interface));
  } catch (...) {
    return nullptr;
  }
}

}  // namespace davit::host
