#include "instance_host.hpp"
#include "log.hpp"
#include "runtime/pool.hpp"
#include "runtime/runtime.hpp"
#include "tables.hpp"

namespace davit::host {
namespace {

void blocking(const davit_host* h, davit_str name, davit_task task, void* arg) noexcept {
  const InstanceHost& self = instance(h);
  Pool* pool = name.len == 0 ? self.pool : self.neighbours->pool(view(name));
  if (pool == nullptr) {  // a bug of the caller; the task must run all the same
    self.core->log.error(self.name, "no instance of this name to block on",
                         {{"wanted", text(name)}});
    pool = self.pool;
  }
  pool->post(task, arg, pool == self.pool ? std::string_view() : self.name);
}

}  // namespace

const davit_exec& exec_service() {
  static const davit_exec table = {
      sizeof(davit_exec),
      [](const davit_host* h) noexcept {
        return instance(h).core->runtime.strand(instance(h).name);
      },
      &Runtime::retain,
      &Runtime::release,
      [](davit_strand* s, davit_task task, void* arg) noexcept { Runtime::post(s, task, arg); },
      &Runtime::timer,
      &Runtime::cancel,
      &blocking};
  return table;
}

}  // namespace davit::host
