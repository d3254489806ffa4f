#include "status_pages.hpp"

#include <davit/v1/operator.pb.h>

#include "columns.hpp"
#include "page_size.hpp"
#include "survey.hpp"

namespace davit::desired {

namespace {

constexpr size_t bytes_per_message = 1 << 20;

size_t number_of(const Key& key) {
  return std::hash<std::string>{}(key.kind + '\n' + key.region + '\n' + key.id);
}

}  // namespace

Result<std::optional<std::string>> StatusPages::next() {
  while (stage_ != Stage::end) {
    if (!go_on()) return given_up();
    v1::StatusResponse out;
    Result<> done;
    switch (stage_) {
      case Stage::begin:
        done = begin(&out);
        break;
      case Stage::agents:
        agents(&out);
        break;
      case Stage::statuses:
        done = statuses(&out);
        break;
      case Stage::records:
        done = records(&out);
        break;
      case Stage::regions:
      case Stage::end:
        render(regions_, conditions_, shared_.host.unix_ms(), &out);
        stage_ = Stage::end;
    }
    if (!done.ok()) return done.error();
    std::string message = out.SerializeAsString();
    if (!message.empty()) return std::optional(std::move(message));
  }
  if (named_.empty() && shared_.kinds.mistyped(selection_.kind))
    return shared_.kinds.unknown(selection_.kind);
  return std::optional<std::string>();
}

Result<> StatusPages::begin(v1::StatusResponse* out) {
  auto head = storage_.head();
  if (!head.ok()) return head.error();
  auto all = read_agents(storage_, shared_.lag, selection_.region, [this] { return go_on(); });
  if (!all.ok()) return all.error();
  conditions_ = Conditions(std::move(*all));
  out->mutable_head()->set_incarnation(head->head.incarnation);
  out->mutable_head()->set_version(head->head.version);
  add_columns(shared_.kinds, selection_.kind, DAVIT_COLUMN_DETAIL, out->mutable_columns());
  stage_ = Stage::agents;
  return {};
}

void StatusPages::agents(v1::StatusResponse* out) {
  const auto& all = conditions_.agents();
  for (size_t bytes = 0; agents_ < all.size() && bytes < bytes_per_message; ++agents_) {
    const Agent& agent = all[agents_];
    auto* said = out->add_agents();
    to_wire(agent, said);
    bytes += said->ByteSizeLong();
  }
  if (agents_ == all.size()) stage_ = Stage::statuses;
}

Result<> StatusPages::statuses(v1::StatusResponse* out) {
  std::vector<Status> page;
  const StatusRead request{
      {selection_.kind, selection_.region}, statuses_, records_per_page, bytes_per_message};
  auto read = storage_.statuses(request, [&](const davit_status& s) {
    if (selection_.takes(from_abi(s.key))) page.push_back(from_abi(s));
    return true;
  });
  if (!read.ok()) return read.error();
  if (read->more && read->next.version <= statuses_.version) return stands_still();
  statuses_ = read->next;
  if (!read->more) stage_ = Stage::records;
  for (const Status& status : page) {
    if (auto r = beside_its_record(status, out); !r.ok()) return r;
  }
  return {};
}

Wanted StatusPages::judged(const davit_record& r) const {
  Wanted out = wanted(r);
  if (conditions_.only_ctrl_v1(text(r.key.region))) out.unsent = shared_.kinds.unsent(r);
  return out;
}

Result<> StatusPages::beside_its_record(const Status& status, v1::StatusResponse* out) {
  std::optional<Wanted> record;
  auto head = storage_.get({status.key, {}, {}}, [this, &record](const davit_record& r) {
    record = judged(r);
    return false;
  });
  if (!head.ok()) return head.error();
  if (!record) return {};
  // When another record has taken the name, the objects belong to that record.
  const bool taken_over = !record->live && record->name.empty();
  const Status* observed = taken_over ? nullptr : &status;
  if (!is_shown(*record, observed)) return {};
  // A status that was renewed during the read comes again.
  if (!named_.insert(number_of(status.key)).second) return {};
  regions_.insert(status.key.region);
  render(status.key, *record, observed, conditions_, out->add_objects());
  return {};
}

Result<> StatusPages::records(v1::StatusResponse* out) {
  const auto dead_after = leave_out_none(storage_);
  if (!dead_after.ok()) return dead_after.error();
  const auto show = [&](const davit_record& r) {
    const Key key = from_abi(r.key);
    const Wanted record = judged(r);
    if (!is_shown(record, nullptr) || !selection_.takes(key)) return true;
    if (!named_.insert(number_of(key)).second) return true;
    regions_.insert(key.region);
    render(key, record, nullptr, conditions_, out->add_objects());
    return true;
  };
  auto page = storage_.read({{selection_.kind, selection_.region},
                             records_,
                             *dead_after,
                             records_per_page,
                             bytes_per_page},
                            show);
  if (!page.ok()) return page.error();
  if (page->more && page->next_version <= records_.version) return stands_still();
  records_ = {page->head.head.incarnation, page->next_version};
  if (!page->more) stage_ = Stage::regions;
  return {};
}

}  // namespace davit::desired
