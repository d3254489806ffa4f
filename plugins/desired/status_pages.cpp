#include "status_pages.hpp"

#include <davit/v1/operator.pb.h>

#include "columns.hpp"
#include "page_size.hpp"
#include "status_reader.hpp"

namespace davit::desired {

namespace {

constexpr size_t bytes_per_message = 1 << 20;

size_t number_of(const Key& key) {
  return std::hash<std::string>{}(key.kind + '\n' + key.region + '\n' + key.id);
}

}  // namespace

Result<std::optional<std::string>> StatusPages::next() {
  while (stage_ != Stage::end || !page_.empty()) {
    if (!go_on()) return given_up();
    v1::StatusResponse out;
    Result<> done;
    switch (page_.empty() ? stage_ : Stage::page) {
      case Stage::page:
        show(&out);
        break;
      case Stage::begin:
        done = begin(&out);
        break;
      case Stage::agents:
        agents(&out);
        break;
      case Stage::statuses:
        done = statuses();
        break;
      case Stage::records:
        done = records();
        break;
      case Stage::regions:
      case Stage::end:
        render(regions_, conditions_, shared_.host.unix_ms(), &out);
        stage_ = Stage::end;
    }
    if (!done.ok() && begin_anew(done.error())) continue;
    if (!done.ok()) return done.error();
    if (queries_) return std::optional<std::string>();
    std::string message = out.SerializeAsString();
    if (!message.empty()) return std::optional(std::move(message));
  }
  if (named_.empty() && shared_.kinds.mistyped(selection_.kind))
    return shared_.kinds.unknown(selection_.kind);
  return std::optional<std::string>();
}

// A store whose history changes all the time gives no list.
bool StatusPages::begin_anew(const Error& why) {
  constexpr int most = 5;
  if (why.code != Code::out_of_range || begun_anew_ == most) return false;
  ++begun_anew_;
  statuses_ = records_ = {};
  page_.clear();
  stage_ = Stage::statuses;
  return true;
}

Result<> StatusPages::begin(v1::StatusResponse* out) {
  auto head = storage_.head();
  if (!head.ok()) return head.error();
  const auto history = storage_.history();
  if (!history.ok()) return history.error();
  auto all = read_agents(storage_, shared_.lag, selection_.region, [this] { return go_on(); });
  if (!all.ok()) return all.error();
  conditions_ = Conditions(std::move(*all), Delayed(shared_.delayed.all()));
  asks_kinds_ = !conditions_.only_ctrl_v1_regions().empty();
  out->mutable_head()->set_incarnation(head->head.incarnation.value());
  out->mutable_head()->set_version(head->head.version.value());
  render(*history, out);
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

Result<> StatusPages::statuses() {
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
  auto queries = std::make_shared<KindQueries>();
  const std::span<const Status> all = page;
  const size_t at_once = asks_kinds_ ? payloads_per_look_up : records_per_page;
  for (size_t first = 0; first < all.size(); first += at_once) {
    const auto some = all.subspan(first, std::min(at_once, all.size() - first));
    if (auto r = beside_their_records(some, *queries); !r.ok()) return r;
  }
  ask(std::move(queries));
  return {};
}

Wanted StatusPages::judged(const davit_record& r, KindQueries& queries) const {
  if (conditions_.only_ctrl_v1(text(r.key.region))) ask_unsent(shared_.kinds, r, queries);
  return wanted(r);
}

void StatusPages::ask(std::shared_ptr<KindQueries> queries) {
  if (!page_.empty() && !queries->empty()) queries_ = std::move(queries);
}

Result<> StatusPages::beside_their_records(std::span<const Status> statuses, KindQueries& queries) {
  GetRequest request{{}, !asks_kinds_};
  for (const Status& status : statuses) request.queries.push_back({status.key, {}, {}});
  std::map<Key, Wanted> records;
  auto head = storage_.get(request, [&](const davit_record& r) {
    records.insert_or_assign(from_abi(r.key), judged(r, queries));
    return true;
  });
  if (!head.ok()) return head.error();
  for (const Status& status : statuses) {
    if (const auto record = records.find(status.key); record != records.end())
      add(status, std::move(record->second));
  }
  return {};
}

void StatusPages::add(const Status& status, Wanted record) {
  // When another record has taken the name, the objects belong to that record.
  const bool taken_over = !record.live && record.name.empty();
  const Status* observed = taken_over ? nullptr : &status;
  if (!is_shown(record, observed)) return;
  // A status that was renewed during the read comes again.
  if (!named_.insert(number_of(status.key)).second) return;
  page_.push_back(
      {status.key, std::move(record), observed == nullptr ? std::nullopt : std::optional(status)});
}

Result<> StatusPages::records() {
  const auto dead_after = leave_out_none(storage_);
  if (!dead_after.ok()) return dead_after.error();
  auto queries = std::make_shared<KindQueries>();
  const auto take = [&](const davit_record& r) {
    const Key key = from_abi(r.key);
    if (!is_shown(wanted(r), nullptr) || !selection_.takes(key)) return true;
    if (!named_.insert(number_of(key)).second) return true;
    page_.push_back({key, judged(r, *queries), std::nullopt});
    return true;
  };
  auto page = storage_.read({.scope = {selection_.kind, selection_.region},
                             .cursor = records_,
                             .dead_after = *dead_after,
                             .limit = records_per_page,
                             .bytes_max = bytes_per_page,
                             .no_payload = !asks_kinds_},
                            take);
  if (!page.ok()) return page.error();
  if (page->more && page->next_version <= records_.version) return stands_still();
  records_ = {page->head.head.incarnation, page->next_version};
  if (!page->more) stage_ = Stage::regions;
  ask(std::move(queries));
  return {};
}

// The page, with what the kinds have said of it.
void StatusPages::show(v1::StatusResponse* out) {
  const auto said = queries_ ? dated(*queries_, shared_.unanswered, shared_.host.unix_ms())
                             : KindQueries::Answers();
  queries_.reset();
  for (Shown& shown : std::exchange(page_, {})) {
    if (const auto unsent = said.find(shown.key); unsent != said.end())
      shown.record.unsent = unsent->second;
    regions_.insert(shown.key.region);
    render(shown.key, shown.record, shown.observed ? &*shown.observed : nullptr, conditions_,
           out->add_objects());
  }
}

}  // namespace davit::desired
