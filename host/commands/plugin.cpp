#include <algorithm>
#include <cstdio>

#include "exit_codes.hpp"
#include "loader/loader.hpp"
#include "table.hpp"

namespace davit::host {
namespace {

std::string roles_of(const Note& note) {
  std::string out;
  for (const std::string& role : note.roles) out += (out.empty() ? "" : ",") + role;
  return out;
}

void print(const std::vector<ListedModule>& modules) {
  size_t name = 6, roles = 5;  // as wide as the heads of the columns
  for (const ListedModule& m : modules) {
    name = std::max(name, m.name.size());
    roles = std::max(roles, roles_of(m.note).size());
  }
  const auto line = [&](const std::string& a, const std::string& b, const std::string& c,
                        const std::string& d, const std::string& e) {
    std::printf("%-*s  %-9s  %-4s  %-*s  %s\n", static_cast<int>(name), a.c_str(), b.c_str(),
                c.c_str(), static_cast<int>(roles), d.c_str(), e.c_str());
  };
  line("MODULE", "VERSION", "ABI", "ROLES", "FILE");
  for (const ListedModule& m : modules) {
    if (!m.problem.empty()) {
      line(m.name, "-", "-", "-", m.path + ": " + m.problem);
      continue;
    }
    const std::string abi =
        std::to_string(m.note.abi_major) + "." + std::to_string(m.note.abi_minor);
    line(m.name, m.note.version, abi, roles_of(m.note), m.path);
  }
}

}  // namespace

// Nothing is loaded: the notes say it all.
int run_plugin(Arguments arguments) {
  const auto directory = arguments.option("--dir");
  if (auto bad = arguments.unknown()) return usage_error("plugin", *bad);
  if (arguments.rest() != std::vector<std::string>{"list"})
    return usage_error("plugin", "say \"list\"");
  const Loader loader({directory.value_or(Loader::default_directory())});
  const auto modules = loader.list();
  if (modules.empty()) {
    std::fprintf(stderr, "no plugin in %s\n", loader.directories().front().c_str());
    return exit_code_failed;
  }
  print(modules);
  const bool broken = std::any_of(modules.begin(), modules.end(),
                                  [](const ListedModule& m) { return !m.problem.empty(); });
  return broken ? exit_code_failed : exit_code_done;
}

}  // namespace davit::host
