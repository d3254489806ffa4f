// What sort of life a seed leads: who takes part in it, and what may befall them beside the faults
// that befall all.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace davit::simulation {

enum class Scene {
  plain,
  ctrl,       // the agent speaks ctrl.v1
  pair,       // two agents with a Lease between them, whose clocks jump
  restored,   // the store is restored from backups, and emptied
  reopened,   // the store begins incarnations while its server runs, as a database does
  rivals,     // two agents of one region without a Lease, and one of another that has their names
  federation  // no server and no agents: a world of its own, and of no seed's choice
};

inline constexpr std::array<const char*, 7> scenes{"plain",    "ctrl",   "pair",      "restored",
                                                   "reopened", "rivals", "federation"};
inline constexpr size_t scenes_of_seeds = 6;

inline std::optional<Scene> scene_named(const std::string& word) {
  for (size_t i = 0; i < scenes.size(); ++i) {
    if (word == scenes[i]) return static_cast<Scene>(i);
  }
  return std::nullopt;
}

}  // namespace davit::simulation
