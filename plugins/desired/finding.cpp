#include "finding.hpp"

#include <algorithm>

#include "document.hpp"
#include "page_size.hpp"

namespace davit::desired {

Result<records::Found> find(const Shared& shared, const storage::Client& storage,
                            const Query& query) {
  records::Found out;
  auto head = storage.get(query, [&](const davit_record& r) {
    // Nobody asks for a name because of who had it.
    if (!query.key.id.empty() || view(r.state) != "deleted")
      out.records.push_back(as_shown(shared.kinds, r));
    return true;
  });
  if (!head.ok()) return head.error();
  if (out.records.empty() && shared.kinds.mistyped(query.key.kind))
    return shared.kinds.unknown(query.key.kind);
  out.next = out.head = head->head;
  return out;
}

Result<records::Found> list(const Shared& shared, const storage::Client& storage,
                            const records::Read& read) {
  const auto dead_after = leave_out_none(storage);
  if (!dead_after.ok()) return dead_after.error();
  records::Found out;
  const uint32_t limit = std::clamp(read.limit, 1u, list_records_max);
  auto page =
      storage.read({{read.kind, read.region}, read.after, *dead_after, limit, list_bytes_max},
                   [&](const davit_record& r) {
                     if (read.deleted || view(r.state) != "deleted")
                       out.records.push_back(as_shown(shared.kinds, r));
                     return true;
                   });
  if (!page.ok()) return page.error();
  const bool nothing = !read.after.version && out.records.empty();
  if (nothing && shared.kinds.mistyped(read.kind)) return shared.kinds.unknown(read.kind);
  out.more = page->more;
  out.head = page->head.head;
  out.next = {out.head.incarnation, page->next_version};
  return out;
}

}  // namespace davit::desired
