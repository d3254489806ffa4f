#include <filesystem>

#include "instance_host.hpp"
#include "tables.hpp"

namespace davit::host {
namespace {

namespace fs = std::filesystem;

int32_t directory(const davit_host* h, int32_t create, const davit_sink* path, davit_error* error) {
  return guard(error, [&]() -> Result<> {
    const fs::path own = fs::path(instance(h).state_root) / instance(h).name;
    if (create != 0) {
      std::error_code problem;
      fs::create_directories(own.parent_path(), problem);
      if (!problem && fs::create_directory(own, problem)) {
        fs::permissions(own, fs::perms::owner_all, fs::perm_options::replace, problem);
      }
      if (problem) {
        return Error{Code::failed_precondition,
                     "state directory " + own.string() + ": " + problem.message(), own.string()};
      }
    }
    emit(path, own.string());
    return {};
  });
}

}  // namespace

const davit_state& state_service() {
  static const davit_state table = {sizeof(davit_state), &directory};
  return table;
}

}  // namespace davit::host
