#include <davit/flags.hpp>

#include "commit_queue.hpp"
#include "instance_host.hpp"
#include "tables.hpp"

namespace davit::host {
namespace {

Error unknown(davit_str storage) {
  return {Code::not_found, "no storage \"" + text(storage) + "\"", text(storage)};
}

void commit(const davit_host* h, davit_str storage, const davit_op* op, const davit_group* group,
            davit_commit_done done, void* ctx) noexcept {
  CommitQueue::Commit request{Op(op), from_abi(*group), done, ctx};
  // The queue passes on what this host knows, so a critical flag must not get lost here.
  if (auto known = understood(*group); !known.ok())
    return answer(*instance(h).pool, std::move(request), known.error());
  CommitQueue* queue = instance(h).commits->find(view(storage));
  if (queue != nullptr) {
    queue->commit(std::move(request));
  } else {
    answer(*instance(h).pool, std::move(request), unknown(storage));
  }
}

void report(const davit_host* h, davit_str storage, const davit_op* op,
            const davit_status* const* statuses, size_t count, davit_report_done done,
            void* ctx) noexcept {
  CommitQueue::Report request{Op(op), {}, done, ctx};
  for (size_t i = 0; i < count; ++i) request.statuses.push_back(from_abi(*statuses[i]));
  if (auto known = understood(statuses, count); !known.ok())
    return answer(*instance(h).pool, std::move(request), known.error());
  CommitQueue* queue = instance(h).commits->find(view(storage));
  if (queue != nullptr) {
    queue->report(std::move(request));
  } else {
    answer(*instance(h).pool, std::move(request), unknown(storage));
  }
}

}  // namespace

const davit_commit& commit_service() {
  static const davit_commit table = {sizeof(davit_commit), 0, &commit, &report};
  return table;
}

}  // namespace davit::host
