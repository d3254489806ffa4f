#include "side.hpp"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

namespace davit::simulation {

namespace {

using testing::TestHost;

// Whether a thread of ours waits for somebody.
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string fields;
  std::getline(file, fields);
  const size_t name_end = fields.rfind(')');
  return name_end != std::string::npos && fields.substr(name_end, 3) == ") S";
}

}  // namespace

void Side::load(TestHost& world, const Plugins& plugins, const std::string& file,
                const std::string& name, const testing::Config& config) {
  const auto other = plugins.find(file);
  auto plugin =
      testing::Loaded::open(other != plugins.end() ? other->second : PLUGINS "/" + file + ".so");
  if (!plugin.ok()) throw std::runtime_error(plugin.error().message);
  hosts.push_back(std::make_unique<TestHost>(world, name, config));
  instances.push_back(std::make_unique<testing::Instance>(plugin->plugin(), *hosts.back()));
  if (const auto r = instances.back()->up(); !r.ok())
    throw std::runtime_error(name + ": " + r.error().message);
  world.run();
  up = true;
}

// stop() blocks until what it waits for has run, which is this thread's to do. The two take turns,
// or a seed would be another story each time. What takes the simulation's time gets it once nothing
// else moves.
void Side::stop(TestHost& world) {
  while (!instances.empty()) {
    auto instance = std::move(instances.back());
    instances.pop_back();
    std::atomic<pid_t> id{0};
    std::atomic<bool> stopped{false};
    std::thread thread([&] {
      id = gettid();
      (void)instance->stop(std::chrono::hours(1));
      stopped = true;
    });
    for (int turns = 0; !stopped; ++turns) {
      while (!stopped && (id == 0 || !sleeps(id))) std::this_thread::yield();
      turns < 100 ? world.run() : world.advance(std::chrono::milliseconds(100));
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // it may have been woken
    }
    thread.join();
    world.run();
    instance->destroy();
  }
  hosts.clear();
  up = false;
}

}  // namespace davit::simulation
