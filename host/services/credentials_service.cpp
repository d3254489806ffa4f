#include <davit/flags.hpp>

#include "config/node.hpp"
#include "config/table.hpp"
#include "credentials.hpp"
#include "instance_host.hpp"
#include "tables.hpp"

namespace davit::host {
namespace {

// Finds the setting with this value: a relative path is relative to the file that contains the
// setting. If no setting has the value, read() uses the file of the instance's table.
const Node* who_says(const Node& node, std::string_view value) {
  if (node.type == Node::Type::string && node.string == value) return &node;
  for (const auto& child : node.children) {
    if (const Node* found = who_says(*child, value)) return found;
  }
  return nullptr;
}

int32_t read(const davit_host* h, davit_str path, uint32_t flags, void* ctx,
             void (*use)(void*, davit_bytes), davit_error* error) {
  return guard(error, [&]() -> Result<> {
    if (auto known = understood("davit_credentials.read", flags, DAVIT_CREDENTIAL_SENSITIVE);
        !known.ok())
      return known;
    const Node& settings = *instance(h).settings;
    const Node* source = who_says(settings, view(path));
    std::string problem;
    const std::string file =
        resolve_path(view(path), (source != nullptr ? *source : settings).file, &problem);
    if (!problem.empty()) return Error{Code::invalid_argument, problem, text(path)};
    return read_credential(file, (flags & DAVIT_CREDENTIAL_SENSITIVE) != 0,
                           [&](std::string_view content) { use(ctx, bytes(content)); });
  });
}

}  // namespace

const davit_credentials& credentials_service() {
  static const davit_credentials table = {sizeof(davit_credentials), &read};
  return table;
}

}  // namespace davit::host
