#include "store_fingerprints.hpp"

#include <openssl/sha.h>

#include <algorithm>

#include "services/hexadecimal.hpp"

namespace davit::host {
namespace {

constexpr uint32_t items_per_page = 1'000;
constexpr uint64_t bytes_per_page = 8 << 20;

Sha256 sha256(std::string_view bytes) {
  Sha256 out{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), out.data());
  return out;
}

// The fields one after the other, so that no two different sequences give the same bytes.
class Fields {
 public:
  template <class... Field>
  explicit Fields(const Field&... fields) {
    (add(fields), ...);
  }
  void add(std::string_view text) {
    add(text.size());
    bytes_ += text;
  }
  void add(uint64_t number) { bytes_ += std::to_string(number) + ","; }
  void add(int64_t number) { bytes_ += std::to_string(number) + ","; }
  void add(bool flag) { add(uint64_t{flag}); }
  template <class Purpose>
  void add(Number<Purpose> number) {
    add(number.value());
  }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(const Key& key) {
    add(key.kind);
    add(key.region);
    add(key.id);
  }
  Sha256 hash() const { return sha256(bytes_); }

 private:
  std::string bytes_;
};

std::string named(const char* of, const Key& key) {
  return std::string(of) + " " + key.kind + " \"" + key.id + "\" of region \"" + key.region + "\"";
}

Fingerprint of_record(const davit_record& abi) {
  Record r = from_abi(abi);
  Fields f(r.key, r.ns, r.name, r.state, r.version, r.live, r.payload, r.committed_at_unix_ms,
           r.author, r.request_id);
  std::sort(r.annotations.begin(), r.annotations.end());
  for (const auto& [key, value] : r.annotations) {
    f.add(key);
    f.add(value);
  }
  Fingerprint out{Fingerprint::Of::record, r.version, named("record", r.key), f.hash(), {}};
  if (!r.json.empty()) out.json = sha256(r.json);
  return out;
}

Fingerprint of_status(const davit_status& abi) {
  Status s = from_abi(abi);
  Fields f(s.key, s.gone, s.observed_version, s.health, s.desired, s.updated, s.ready, s.stale,
           s.message, s.parked, s.detail, s.epoch, s.sequence, s.status_version,
           s.reported_at_unix_ms);
  std::sort(s.children.begin(), s.children.end(),
            [](const Child& a, const Child& b) { return a.name < b.name; });
  for (const Child& c : s.children) {
    f.add(c.name);
    f.add(c.address);
    f.add(c.status);
    f.add(c.cpu_millicores);
    f.add(c.memory_mib);
  }
  return {Fingerprint::Of::status, s.status_version, named("the status of", s.key), f.hash(), {}};
}

Fingerprint of_agent(const davit_progress& abi) {
  const Progress p = from_abi(abi);
  Fields f(p.region, p.agent, p.software, p.epoch, p.seen_at_unix_ms);
  f.add(uint64_t{p.kinds.size()});
  for (const KindProgress& k : p.kinds) {
    f.add(k.kind);
    f.add(k.applied.incarnation);
    f.add(k.applied.version);
  }
  for (const Issue& i : p.issues) {
    f.add(Key{i.kind, i.ns, i.id});
    f.add(i.name);
    f.add(i.version);
    f.add(i.incarnation);
    f.add(i.condition);
    f.add(i.reason);
  }
  return {Fingerprint::Of::agent,
          0,
          "agent \"" + p.agent + "\" of region \"" + p.region + "\"",
          f.hash(),
          {}};
}

}  // namespace

Result<std::optional<Fingerprint>> StoreFingerprints::next() {
  while (page_.empty() && !over_) {
    if (auto r = read_on(); !r.ok()) return r.error();
  }
  if (page_.empty()) return std::optional<Fingerprint>();
  Fingerprint out = std::move(page_.front());
  page_.pop_front();
  std::string chain(all_.begin(), all_.end());
  chain.append(out.hash.begin(), out.hash.end());
  all_ = sha256(chain);
  ++(out.of == Fingerprint::Of::record   ? counts_.records
     : out.of == Fingerprint::Of::status ? counts_.statuses
                                         : counts_.agents);
  return std::optional(std::move(out));
}

std::string StoreFingerprints::digest() const {
  return hexadecimal(all_);
}

Result<> StoreFingerprints::read_on() {
  switch (at_) {
    case Fingerprint::Of::record:
      return read_records();
    case Fingerprint::Of::status:
      return read_statuses();
    case Fingerprint::Of::agent:
      return read_agents();
  }
  return {};
}

// What is purged is not there, so nothing is left out that a cursor below the mark would want.
Result<> StoreFingerprints::read_records() {
  if (!std::exchange(begun_, true)) {
    auto head = store_.head();
    if (!head.ok()) return head.error();
    dead_after_ = head->purged_through;
  }
  auto page = store_.read({{}, cursor_, dead_after_, items_per_page, bytes_per_page},
                          [&](const davit_record& r) {
                            page_.push_back(of_record(r));
                            return true;
                          });
  if (!page.ok()) return page.error();
  cursor_ = {page->head.head.incarnation, page->next_version};
  if (page->more) return {};
  at_ = Fingerprint::Of::status;
  cursor_ = {};
  return {};
}

Result<> StoreFingerprints::read_statuses() {
  auto page =
      store_.statuses({{}, cursor_, items_per_page, bytes_per_page}, [&](const davit_status& s) {
        page_.push_back(of_status(s));
        return true;
      });
  if (!page.ok()) return page.error();
  cursor_ = page->next;
  if (!page->more) at_ = Fingerprint::Of::agent;
  return {};
}

Result<> StoreFingerprints::read_agents() {
  over_ = true;
  return store_.agents({}, [&](const davit_progress& p) {
    page_.push_back(of_agent(p));
    return true;
  });
}

std::string difference(const std::optional<Fingerprint>& source,
                       const std::optional<Fingerprint>& copy) {
  if (!source && !copy) return {};
  const auto place = [](const Fingerprint& f) { return std::pair(f.of, f.version); };
  if (!copy || (source && place(*source) < place(*copy)))
    return source->what + " is missing in the copy, or older there";
  if (!source || place(*copy) < place(*source))
    return copy->what + " is in the copy, and not in the source";
  if (source->what != copy->what) return source->what + " is " + copy->what + " in the copy";
  const bool json_differs = source->json && copy->json && *source->json != *copy->json;
  if (source->hash != copy->hash || json_differs) return source->what + " has another content";
  return {};
}

}  // namespace davit::host
