// Reads tolerations of pods from a kind's settings: an array of tables with the keys `key`,
// `operator`, `value` and `effect`. Only in the plugin's constructor, as for all settings.
#pragma once

#include <davit/settings.hpp>

namespace davit::kubernetes {

struct Toleration {
  std::string key, op, value, effect;  // op is "Equal" or "Exists"
};

// An array in the settings replaces the whole fallback. An empty array means no tolerations.
inline std::vector<Toleration> read_tolerations(const Settings& settings, std::string_view name,
                                                std::vector<Toleration> fallback) {
  if (!settings.has(name)) return fallback;
  std::vector<Toleration> out;
  for (const auto& s : settings.tables(name)) {
    const Toleration& t =
        out.emplace_back(Toleration{s.string("key", ""), s.string("operator", "Equal"),
                                    s.string("value", ""), s.string("effect", "")});
    if (t.op != "Equal" && t.op != "Exists")
      s.reject("operator", "must be \"Equal\" or \"Exists\"");
    if (t.op == "Exists" && !t.value.empty())
      s.reject("value", "must be left out when operator is \"Exists\"");
    if (t.op == "Equal" && t.key.empty()) s.reject("key", "is needed when operator is \"Equal\"");
  }
  return out;
}

}  // namespace davit::kubernetes
