#include "neighbours.hpp"

#include <algorithm>

namespace davit::conformance {

Neighbours::Neighbours(testing::TestHost& host, const testing::Config& options,
                       const std::string& directory)
    : host_(host) {
  const std::string prefix = "beside.";
  const testing::Config written = options.with("$TMP", directory);
  for (auto entry : written.entries()) {
    if (!entry.key.starts_with(prefix)) continue;
    const std::string rest = entry.key.substr(prefix.size());
    const size_t dot = rest.find('.');
    const std::string name = rest.substr(0, dot);
    auto at =
        std::find_if(all_.begin(), all_.end(), [&](const auto& n) { return n.first == name; });
    if (at == all_.end()) at = all_.insert(all_.end(), {name, One{}});
    if (dot == std::string::npos) {
      at->second.path = written.string(entry.key);
    } else {
      entry.key = rest.substr(dot + 1);
      at->second.config.set(entry);
    }
  }
}

Neighbours::~Neighbours() {
  while (!all_.empty()) all_.pop_back();
}

Result<> Neighbours::create(const std::string& name, One& one) {
  auto loaded = testing::Loaded::open(one.path);
  if (!loaded.ok()) return loaded.error();
  one.host = std::make_unique<testing::TestHost>(host_, name, one.config);
  one.instance = std::make_unique<testing::Instance>(loaded->plugin(), *one.host);
  if (auto r = one.instance->create(); !r.ok()) return r;
  for (const std::string_view service : {DAVIT_CODEC, DAVIT_RPC}) {
    const void* table = one.instance->role<void>(service);
    if (table != nullptr) host_.add_service(std::string(service), table);
  }
  return {};
}

Result<> Neighbours::up() {
  for (auto& [name, one] : all_) {
    if (auto r = create(name, one); !r.ok()) return r.error().in("beside \"" + name + "\"");
  }
  for (auto& [name, one] : all_) {
    if (auto r = one.instance->wire(); !r.ok()) return r.error().in("beside \"" + name + "\"");
  }
  for (auto& [name, one] : all_) {
    if (auto r = one.instance->start(); !r.ok()) return r.error().in("beside \"" + name + "\"");
  }
  return {};
}

}  // namespace davit::conformance
