#include "store_copy.hpp"

#include <array>
#include <map>
#include <sstream>

namespace davit::host {
namespace {

constexpr uint32_t items_at_once = 1'000;
constexpr uint64_t bytes_at_once = 8 << 20;
constexpr std::string_view place_word = "davit-copy-1";

Error too_large_for(const char* of, const Key& key, uint64_t bytes, uint64_t most) {
  return {Code::failed_precondition, std::string(of) + key.kind + " \"" + key.id +
                                         "\" of region \"" + key.region + "\" has " +
                                         std::to_string(bytes) + " bytes, and the target takes " +
                                         std::to_string(most) + " at most"};
}

// Cuts a page into loads within limits, each with the place that it leads to.
class Cutter {
 public:
  Cutter(uint32_t items, uint64_t bytes) : items_max_(items), bytes_max_(bytes) {}
  // Whether the next item needs a load of its own.
  bool full(uint64_t bytes) const {
    return items_ > 0 && (items_ >= items_max_ || bytes_ + bytes > bytes_max_);
  }
  void add(uint64_t bytes) {
    ++items_;
    bytes_ += bytes;
  }
  void begin() { items_ = 0, bytes_ = 0; }

 private:
  const uint32_t items_max_;
  const uint64_t bytes_max_;
  uint32_t items_ = 0;
  uint64_t bytes_ = 0;
};

Error purged_meanwhile() {
  return {Code::aborted,
          "the source purged tombstones that were not read yet: repeat the command, which begins "
          "anew"};
}

// Both may have the same name, and the error alone does not say which it was.
Error of_source(const Error& e) {
  return e.in("the source");
}
Error of_target(const Error& e) {
  return e.in("the target");
}

bool same_head(const Head& a, const Head& b) {
  return a.head == b.head && a.status_head == b.status_head && a.purged_through == b.purged_through;
}

}  // namespace

std::string CopyPlace::text() const {
  std::ostringstream out;
  out << place_word << ' ' << records.incarnation << ' ' << records.version << ' '
      << statuses.incarnation << ' ' << statuses.version << ' ' << began_at;
  return out.str();
}

std::optional<CopyPlace> CopyPlace::parse(const std::string& text) {
  std::istringstream in(text);
  std::string word;
  std::array<uint64_t, 5> n{};
  in >> word >> n[0] >> n[1] >> n[2] >> n[3] >> n[4];
  if (!in || word != place_word) return std::nullopt;
  return CopyPlace{
      {Incarnation(n[0]), Version(n[1])}, {Incarnation(n[2]), Version(n[3])}, Version(n[4])};
}

// A record that was read may have been deleted since, above began_at. If that tombstone was purged,
// nobody says so any more.
Result<bool> StoreCopy::continues(const CopyPlace& place) const {
  auto head = source_.head();
  if (!head.ok()) return of_source(head.error());
  if (head->purged_through > std::max(place.records.version, place.began_at)) return false;
  const auto nothing = [](const auto&) { return false; };
  auto records = source_.read({{}, place.records, head->purged_through, 1, 1}, nothing);
  if (!records.ok() && records.error().code != Code::out_of_range)
    return of_source(records.error());
  auto statuses = source_.statuses({{}, place.statuses, 1, 1}, nothing);
  if (!statuses.ok() && statuses.error().code != Code::out_of_range)
    return of_source(statuses.error());
  return records.ok() && statuses.ok();
}

Result<StoreCopy::Counts> StoreCopy::catch_up(CopyPlace& place, const storage::Limits& limits,
                                              const Target* target) {
  counts_ = {};
  limits_ = limits;
  target_ = target;
  if (auto r = read_records(place); !r.ok()) return r.error();
  if (auto r = read_statuses(place); !r.ok()) return r.error();
  return counts_;
}

Result<> StoreCopy::read_records(CopyPlace& place) {
  auto head = source_.head();
  if (!head.ok()) return of_source(head.error());
  if (!place.records.version) place.began_at = head->head.version;
  for (bool more = true; more;) {
    // The mark may move on while pages are read.
    if (head->purged_through > std::max(place.records.version, place.began_at))
      return purged_meanwhile();
    std::vector<Record> records;
    auto page =
        source_.read({{}, place.records, head->purged_through, items_at_once, bytes_at_once},
                     [&](const davit_record& r) {
                       records.push_back(from_abi(r));
                       return true;
                     });
    if (!page.ok() && page.error().code == Code::out_of_range) return purged_meanwhile();
    if (!page.ok()) return of_source(page.error());
    const Incarnation incarnation = page->head.head.incarnation;
    Cutter cutter(limits_.group_records, limits_.group_bytes);
    storage::Load load;
    for (Record& r : records) {
      const uint64_t bytes = storage::stored_bytes(r);
      if (bytes > limits_.record_bytes)
        return too_large_for("", r.key, bytes, limits_.record_bytes);
      if (cutter.full(bytes)) {
        place.records = {incarnation, load.records.back().version};
        load.note = place.text();
        if (auto put_in = put(std::exchange(load, {})); !put_in.ok()) return put_in;
        cutter.begin();
      }
      cutter.add(bytes);
      load.records.push_back(std::move(r));
    }
    more = page->more;
    place.records = {incarnation, page->next_version};
    load.note = place.text();
    if (auto put_in = put(std::move(load)); !put_in.ok()) return put_in;
    counts_.records += records.size();
    *head = page->head;
    tell_(counts_, *head);
  }
  return {};
}

Result<> StoreCopy::read_statuses(CopyPlace& place) {
  for (bool more = true; more;) {
    std::vector<Status> statuses;
    auto page = source_.statuses({{}, place.statuses, items_at_once, bytes_at_once},
                                 [&](const davit_status& s) {
                                   statuses.push_back(from_abi(s));
                                   return true;
                                 });
    if (!page.ok()) return of_source(page.error());
    Cutter cutter(limits_.report_statuses, limits_.report_bytes);
    storage::Load load;
    for (Status& s : statuses) {
      const uint64_t bytes = storage::stored_bytes(s);
      if (bytes > limits_.report_bytes)
        return too_large_for("the status of ", s.key, bytes, limits_.report_bytes);
      if (cutter.full(bytes)) {
        place.statuses = {page->next.incarnation, load.statuses.back().status_version};
        load.note = place.text();
        if (auto put_in = put(std::exchange(load, {})); !put_in.ok()) return put_in;
        cutter.begin();
      }
      cutter.add(bytes);
      load.statuses.push_back(std::move(s));
    }
    more = page->more;
    place.statuses = page->next;
    load.note = place.text();
    if (auto put_in = put(std::move(load)); !put_in.ok()) return put_in;
    counts_.statuses += statuses.size();
    tell_(counts_, page->head);
  }
  return {};
}

Result<> StoreCopy::put(storage::Load load) const {
  if (target_ == nullptr) return {};
  auto loaded = target_->moves.load(load);
  return loaded.ok() ? loaded : of_target(loaded.error());
}

// Agents have no versions, and there are few of them: all are written again, and those that the
// source has forgotten go.
Result<> StoreCopy::put_agents(const Target& target) const {
  std::map<std::pair<std::string, std::string>, int64_t> left;
  auto read = target.store.agents({}, [&](const davit_progress& p) {
    left[{text(p.region), text(p.agent)}] = p.seen_at_unix_ms;
    return true;
  });
  if (!read.ok()) return of_target(read.error());
  std::vector<Progress> wanted;
  read = source_.agents({}, [&](const davit_progress& p) {
    wanted.push_back(from_abi(p));
    return true;
  });
  if (!read.ok()) return of_source(read.error());
  for (const Progress& p : wanted) {
    left.erase({p.region, p.agent});
    if (auto r = target.store.progress(p); !r.ok()) return of_target(r.error());
  }
  for (const auto& [agent, seen] : left) {
    auto r = target.store.maintain({.forget = {agent.first, agent.second, seen}});
    if (!r.ok()) return of_target(r.error());
  }
  return {};
}

Result<StoreCopy::Completed> StoreCopy::compare(const Target& target) const {
  StoreFingerprints source(source_), copy(target.store);
  Completed out;
  for (bool more = true; more;) {
    auto is = source.next();
    if (!is.ok()) return of_source(is.error());
    auto became = copy.next();
    if (!became.ok()) return of_target(became.error());
    more = is->has_value() || became->has_value();
    out.difference = host::difference(*is, *became);
    if (!out.difference.empty()) break;
  }
  out.counts = source.counts();
  out.source_digest = source.digest();
  out.copy_digest = copy.digest();
  return out;
}

Result<StoreCopy::Completed> StoreCopy::complete(const CopyPlace& place,
                                                 const Target& target) const {
  auto head = source_.head();
  if (!head.ok()) return of_source(head.error());
  if (head->purged_through) {
    auto r = target.store.maintain({true, head->purged_through});
    if (!r.ok()) return of_target(r.error());
  }
  if (auto r = put_agents(target); !r.ok()) return r.error();
  auto out = compare(target);
  if (!out.ok()) return out;
  auto history = source_.history();
  if (!history.ok()) return of_source(history.error());
  auto after = source_.head();
  if (!after.ok()) return of_source(after.error());
  const bool read_all =
      place.records.version == after->head.version && place.statuses.version == after->status_head;
  if (!read_all || !same_head(*head, *after))
    return Error{Code::aborted,
                 "somebody wrote to the source meanwhile: stop every server of it, and repeat the "
                 "command"};
  out->head = *after;
  if (!out->difference.empty()) return out;
  auto finished = target.moves.finish({std::move(*history), after->status_head});
  if (!finished.ok()) return of_target(finished.error());
  return out;
}

}  // namespace davit::host
