// The part of Application for commands that work on instances of a configuration themselves.
#include <davit/abi/storage.h>

#include "application_parts.hpp"
#include "config/difference.hpp"
#include "config/node.hpp"

namespace davit::host {

std::optional<std::string> Application::prepare_storage(const std::string& storage) {
  if (!prepare(true)) return std::nullopt;
  parts_->log.set(DAVIT_LOG_WARN, parts_->settings.log_format);
  std::vector<davit_ref> all = parts_->assembly->offering(DAVIT_STORAGE);
  if (!storage.empty())
    std::erase_if(all, [&](const davit_ref& ref) { return view(ref.instance) != storage; });
  if (all.size() == 1) return text(all.front().instance);
  std::string names;
  for (const std::string& file : files_) names += (names.empty() ? "" : ", ") + file;
  refuse(names + (all.size() > 1    ? " has several storages: say which by its name"
                  : storage.empty() ? " has no storage"
                                    : " has no storage \"" + storage + "\""));
  return std::nullopt;
}

std::optional<std::vector<std::string>> Application::prepare_offering(std::string_view interface) {
  if (!prepare(true)) return std::nullopt;
  parts_->log.set(DAVIT_LOG_ERROR, parts_->settings.log_format);
  std::vector<std::string> out;
  for (const davit_ref& ref : parts_->assembly->offering(interface))
    out.push_back(text(ref.instance));
  return out;
}

std::optional<davit_ref> Application::offer(const std::string& instance,
                                            std::string_view interface) const {
  return parts_->assembly->offer(instance, interface);
}

storage::Client Application::store(const std::string& instance) const {
  const Assembly& all = *parts_->assembly;
  return {Host(all.host_of(instance)), *all.offer(instance, DAVIT_STORAGE)};
}

bool Application::has_same(const std::string& instance, const Application& other,
                           const std::string& others) const {
  const auto settings = [](const Application& a, const std::string& name) {
    return a.parts_->config.root().find("plugin")->find(name);
  };
  return instance == others && parts_->settings.state_dir == other.parts_->settings.state_dir &&
         differences(*settings(*this, instance), *settings(other, others)).empty();
}

Result<> Application::start_only(const std::string& instance, const Operation& op) {
  return parts_->assembly->start_only(instance, op);
}

Result<> Application::stop_started() {
  const auto late =
      parts_->assembly->stop(std::chrono::steady_clock::now() + parts_->settings.stop_timeout);
  if (!late) return {};
  return Error{Code::internal, "plugin \"" + late->instance + "\": " + late->why};
}

}  // namespace davit::host
