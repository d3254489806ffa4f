#include "remote.hpp"

#include <iostream>

#include "config/config.hpp"
#include "config/faults.hpp"

namespace davit::suite {

namespace {

constexpr std::string_view name = "suite";
constexpr unsigned threads = 2;

}  // namespace

Remote::Remote()
    : log_([](std::string_view line) { std::cerr << line << std::flush; }),
      runtime_(threads),
      core_{log_, runtime_, metrics_, health_, shutdown_},
      rpc_(core_) {
  host::add_host_services(services_);
  services_.add([this](std::string_view id) { return rpc_.service(id); });
  instance_.name = name;
  instance_.core = &core_;
  instance_.services = &services_;
  instance_.abi = {
      sizeof(davit_host), 0, str(instance_.name),
      [](const davit_host* h, davit_str id) { return host::instance(h).services->find(view(id)); }};
}

Remote::~Remote() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  rpc_.stop(deadline);
  runtime_.shutdown(deadline);
}

Result<std::unique_ptr<Remote>> Remote::open(const std::string& settings) {
  std::unique_ptr<Remote> remote(new Remote);
  if (auto r = remote->configure(settings); !r.ok()) return r.error();
  return remote;
}

Result<> Remote::configure(const std::string& settings) {
  host::Faults faults;
  const std::string toml = "[rpc.client." + std::string(name) + "]\n" + settings;
  const auto config = host::Config::parse(toml, "client.toml", faults);
  rpc_.configure(config, faults);
  config.reject_unread(faults);
  if (!faults.empty()) return Error{Code::invalid_argument, faults.lines().front()};
  auto channel = rpc::Channel::find(Host(&instance_.abi), name);
  if (!channel.ok()) return channel.error();
  channel_ = *channel;
  return rpc_.wired(false);
}

}  // namespace davit::suite
