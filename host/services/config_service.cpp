// A davit_config_node of the ABI is a Node.
#include "config/faults.hpp"
#include "config/node.hpp"
#include "instance_host.hpp"
#include "log.hpp"
#include "tables.hpp"

namespace davit::host {
namespace {

const Node& node(const davit_config_node* n) {
  return *reinterpret_cast<const Node*>(n);
}
const davit_config_node* abi(const Node* n) {
  return reinterpret_cast<const davit_config_node*>(n);
}

const davit_config_node* at(const davit_config_node* n, size_t index) noexcept {
  const auto& children = node(n).children;
  if (index >= children.size()) return nullptr;
  children[index]->read = true;
  return abi(children[index].get());
}

void reject(const davit_host* h, const davit_config_node* n, davit_str message) noexcept {
  const InstanceHost& self = instance(h);
  if (self.faults != nullptr) {
    node(n).reject(*self.faults, view(message));
  } else {  // after create the faults are no longer collected
    self.core->log.error(self.name, "setting refused too late",
                         {{"key", node(n).key}, {"why", text(message)}});
  }
}

}  // namespace

const davit_config& config_service() {
  static const davit_config table = {
      sizeof(davit_config),
      [](const davit_host* h) noexcept { return abi(instance(h).settings); },
      [](const davit_config_node* n) noexcept {
        return n == nullptr ? 0 : static_cast<int32_t>(node(n).type);
      },
      [](const davit_config_node* n, davit_str key) noexcept {
        // A table of the wrong type is NULL to its reader, who may ask it for keys all the same.
        return n == nullptr ? nullptr : abi(node(n).ask(view(key)));
      },
      [](const davit_config_node* n) noexcept { return node(n).children.size(); },
      &at,
      [](const davit_config_node* n) noexcept { return str(node(n).key); },
      [](const davit_config_node* n) noexcept { return str(node(n).where); },
      [](const davit_config_node* n) noexcept { return str(node(n).string); },
      [](const davit_config_node* n) noexcept { return node(n).integer; },
      [](const davit_config_node* n) noexcept {
        return node(n).type == Node::Type::integer ? static_cast<double>(node(n).integer)
                                                   : node(n).real;
      },
      [](const davit_config_node* n) noexcept { return node(n).boolean ? 1 : 0; },
      &reject};
  return table;
}

}  // namespace davit::host
