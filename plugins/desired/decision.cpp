#include "decision.hpp"

#include <algorithm>

namespace davit::desired {

Decision decide_apply(const Record& wanted, const std::optional<Record>& stored,
                      const SamePayload& same) {
  if (!stored) return {"created", 0, Mutation{wanted, 0}, {}};
  Pairs annotations = stored->annotations;
  std::sort(annotations.begin(), annotations.end());
  const bool unchanged = stored->state == wanted.state && stored->live == wanted.live &&
                         annotations == wanted.annotations && same(stored->payload, wanted.payload);
  if (unchanged) return {"unchanged", stored->version, {}, {}};
  const bool revived = wanted.live && !stored->live;
  return {revived ? "created" : "changed", 0, Mutation{wanted, stored->version}, {}};
}

Decision decide_delete(const std::optional<Record>& stored, const std::string& author) {
  if (!stored) return {"absent", 0, {}, {}};
  if (stored->state == "deleted") return {"absent", stored->version, {}, {}};
  Mutation m{*stored, stored->version};
  m.record.state = "deleted";
  m.record.live = false;
  m.record.author = author;
  return {"deleted", 0, std::move(m), {}};
}

}  // namespace davit::desired
