// Lives through seeded troubles and looks whether the rules held.
//
//   simulation --seed N [--moments N]                        one life, told
//   simulation --seeds FIRST LAST [--moments N] [--twice]    a line for each; the story of one that
//                                                            failed ends it
//   ... --scene WORD                                         plain, ctrl, one of scene.hpp,
//                                                            instead of what the seed says
//   ... --plugin NAME=FILE                                   with another plugin than the build's
//
// Each life of the second form is a process of its own, so that it is the first form's: what was
// lived before does not show in it. --twice lives each again and compares.
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "federation/world.hpp"
#include "world.hpp"

namespace davit::simulation {
namespace {

struct Options {
  uint64_t first = 0, last = 0;
  int moments = 600;
  bool alone = false, twice = false;
  std::optional<Scene> scene;
  Plugins plugins;
};

constexpr std::chrono::minutes patience{15};

void live(World& world, const Options& o) {
  const Story& story = world.story();
  for (int i = 0; i < o.moments && story.broken().empty(); ++i) {
    if (i == o.moments * 3 / 5) world.may_be_last_trouble();
    world.live();
  }
  if (story.broken().empty() && world.settle(patience) && world.quiet() && world.blind() &&
      world.lose_statuses() && world.rest())
    world.come_back();
}

void live(federation::World& world, const Options& o) {
  const Story& story = world.story();
  for (int i = 0; i < o.moments && story.broken().empty(); ++i) world.live();
  if (story.broken().empty() && world.settle(patience) && world.quiet() && world.withdraw())
    world.rest();
}

// Told to the standard output. 1: a rule was broken.
template <class AnyWorld>
int live_in(AnyWorld& world, const Options& o) {
  const Story& story = world.story();
  std::string stuck;
  try {
    live(world, o);
  } catch (const std::exception& e) {
    stuck = e.what();
  }
  const std::string& broken = stuck.empty() ? story.broken() : stuck;
  for (const auto& line : story.lines()) std::printf("%s\n", line.c_str());
  std::printf("seed %llu: %s, %llu faults in %.0f s\n", static_cast<unsigned long long>(o.first),
              broken.empty() ? "held" : broken.c_str(),
              static_cast<unsigned long long>(world.faults()),
              std::chrono::duration<double>(world.now()).count());
  std::fflush(stdout);
  if (!stuck.empty()) std::_Exit(1);  // there is no taking down what does not come to rest
  return broken.empty() ? 0 : 1;
}

int live(const Options& o) {
  if (o.scene == Scene::federation) {
    federation::World world(o.first, o.plugins);
    return live_in(world, o);
  }
  World world(o.first, o.scene, o.plugins);
  return live_in(world, o);
}

struct Life {
  bool held = false;
  std::string told;
  std::string last_line() const {
    const size_t begin = told.rfind('\n', told.size() - std::min<size_t>(2, told.size()));
    return told.substr(begin == std::string::npos ? 0 : begin + 1);
  }
  uint64_t faults() const {
    const std::string line = last_line();
    const size_t comma = line.rfind(", ");
    return comma == std::string::npos ? 0 : std::strtoull(line.c_str() + comma + 2, nullptr, 10);
  }
};

std::string command(uint64_t seed, const Options& o) {
  std::string out = std::filesystem::read_symlink("/proc/self/exe").string() + " --seed " +
                    std::to_string(seed) + " --moments " + std::to_string(o.moments);
  if (o.scene) out += std::string(" --scene ") + scenes[static_cast<size_t>(*o.scene)];
  for (const auto& [name, path] : o.plugins) out += " --plugin " + name + "=" + path;
  return out;
}

Life live_apart(uint64_t seed, const Options& o) {
  FILE* pipe = popen(command(seed, o).c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a life");
  Life life;
  char buffer[65536];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) life.told.append(buffer, n);
  life.held = pclose(pipe) == 0;
  return life;
}

bool repeats(const Life& one, const Life& other) {
  const auto [a, b] =
      std::mismatch(one.told.begin(), one.told.end(), other.told.begin(), other.told.end());
  if (a == one.told.end() && b == other.told.end()) return true;
  const auto line = std::count(one.told.begin(), a, '\n') + 1;
  std::printf("it does not repeat itself: line %lld differs\n", static_cast<long long>(line));
  return false;
}

double processor_seconds() {
  rusage spent{};
  getrusage(RUSAGE_CHILDREN, &spent);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(spent.ru_utime) + seconds(spent.ru_stime);
}

int live_all(const Options& o) {
  uint64_t faults = 0;
  for (uint64_t seed = o.first; seed <= o.last; ++seed) {
    const Life life = live_apart(seed, o);
    std::printf("%s", life.held ? life.last_line().c_str() : life.told.c_str());
    std::fflush(stdout);
    if (!life.held) {
      std::printf("again: %s\n", command(seed, o).c_str());
      return 1;
    }
    if (o.twice && !repeats(life, live_apart(seed, o))) return 1;
    faults += life.faults() * (o.twice ? 2 : 1);
  }
  std::printf("%llu faults, %.0f a minute of processor time\n",
              static_cast<unsigned long long>(faults),
              static_cast<double>(faults) / processor_seconds() * 60);
  return 0;
}

bool parse(int argc, char** argv, Options& o) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const int left = argc - i - 1;
    if (word == "--seeds" && left >= 2) {
      o.first = std::strtoull(argv[++i], nullptr, 10);
      o.last = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--seed" && left >= 1) {
      o.first = o.last = std::strtoull(argv[++i], nullptr, 10);
      o.alone = true;
    } else if (word == "--moments" && left >= 1) {
      o.moments = std::atoi(argv[++i]);
    } else if (word == "--scene" && left >= 1) {
      o.scene = scene_named(argv[++i]);
      if (!o.scene) return false;
    } else if (word == "--plugin" && left >= 1) {
      const std::string other = argv[++i];
      o.plugins[other.substr(0, other.find('='))] = other.substr(other.find('=') + 1);
    } else if (word == "--twice") {
      o.twice = true;
    } else {
      return false;
    }
  }
  return o.first > 0;
}

}  // namespace
}  // namespace davit::simulation

int main(int argc, char** argv) {
  using namespace davit::simulation;
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(
        stderr,
        "usage: simulation --seed N | --seeds FIRST LAST [--twice]  [--moments N] "
        "[--scene plain|ctrl|pair|restored|reopened|rivals|federation] [--plugin NAME=FILE]...\n");
    return 2;
  }
  try {
    return options.alone ? live(options) : live_all(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
