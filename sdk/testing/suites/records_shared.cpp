#include <fstream>

#include "records.hpp"

namespace davit::conformance {
namespace {

constexpr std::chrono::seconds records_patience{10};

std::string replaced_in(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

RecordSample read_sample() {
  RecordSample out;
  const std::string file = subject().options.string("records");
  if (file.empty()) return out;
  const auto folder = subject().config_file.substr(0, subject().config_file.rfind('/') + 1);
  std::ifstream in(file.starts_with('/') ? file : folder + file);
  const auto root = boost::json::parse(std::string(std::istreambuf_iterator<char>(in), {}));
  const auto& o = root.as_object();
  const auto text = [&o](const char* name) { return std::string(o.at(name).as_string()); };
  out.kind = text("kind");
  out.region = text("region");
  out.other_region = text("other_region");
  out.ns = text("namespace");
  out.name = text("name");
  out.spec = boost::json::serialize(o.at("spec"));
  out.same = boost::json::serialize(o.at("same"));
  for (const auto& value : o.at("refused").as_array()) {
    const auto& refused = value.as_object();
    out.refused.emplace_back(boost::json::serialize(refused.at("spec")),
                             std::string(refused.at("where").as_string()));
  }
  return out;
}

}  // namespace

// --- answers ---

const davit_records* RecordsAnswers::table(davit_ref ref) {
  return static_cast<const davit_records*>(ref.vtable);
}
void RecordsAnswers::apply(davit_ref ref, const records::Apply& apply, const Operation& op) {
  const records::ApplyView v(apply);
  this->apply(ref, v.abi, op);
}
void RecordsAnswers::apply(davit_ref ref, const davit_apply& apply, const Operation& op) {
  table(ref)->apply(ref.self, op.abi(), &apply, &take_applied, this);
}
void RecordsAnswers::get(davit_ref ref, const Query& query, const Operation& op) {
  const davit_query q{sizeof q, 0, to_abi(query.key), str(query.ns), str(query.name)};
  table(ref)->get(ref.self, op.abi(), &q, &take_found, this);
}
void RecordsAnswers::list(davit_ref ref, const records::Read& read, const Operation& op) {
  list(ref, records::to_abi(read), op);
}
void RecordsAnswers::list(davit_ref ref, const davit_records_read& read, const Operation& op) {
  table(ref)->list(ref.self, op.abi(), &read, &take_found, this);
}
bool RecordsAnswers::wait(size_t count) {
  std::unique_lock lock(mutex_);
  return came_.wait_for(lock, records_patience, [&] { return all_.size() >= count; });
}
size_t RecordsAnswers::count() {
  const std::lock_guard lock(mutex_);
  return all_.size();
}
records::AppliedList RecordsAnswers::applied(size_t n) {
  const std::lock_guard lock(mutex_);
  return all_.at(n).applied;
}
Result<records::Found> RecordsAnswers::found(size_t n) {
  const std::lock_guard lock(mutex_);
  return all_.at(n).found;
}
void RecordsAnswers::take_applied(void* self, const davit_applied* const* results, size_t count) {
  One one;
  for (size_t n = 0; n < count; ++n) one.applied.push_back(records::from_abi(*results[n]));
  static_cast<RecordsAnswers*>(self)->push(std::move(one));
}
void RecordsAnswers::take_found(void* self, const davit_records_page* page) {
  static_cast<RecordsAnswers*>(self)->push({{}, records::from_abi(*page)});
}
void RecordsAnswers::push(One one) {
  const std::lock_guard lock(mutex_);
  all_.push_back(std::move(one));
  came_.notify_all();
}

// --- watches ---

RecordsSeen::State& RecordsSeen::kept() {
  static std::deque<State> all;
  return all.emplace_back();
}
RecordsSeen::RecordsSeen(davit_ref ref, const records::Read& read, uint32_t credit, Then then)
    : ref_(ref) {
  if (then) state_.then = [this, then = std::move(then)](size_t so_far) { then(*this, so_far); };
  static const davit_records_watcher watcher = {sizeof watcher, 0, &on_event, &on_end};
  const davit_records_read q = records::to_abi(read);
  davit_records_watch* made = nullptr;
  const auto begun = checked([&](davit_error* e) {
    return table().watch(ref_.self, &q, credit, &watcher, &state_, &made, e);
  });
  EXPECT_TRUE(begun.ok()) << davit::conformance::why(begun);
  if (!begun.ok()) return;
  const std::lock_guard lock(handle_mutex_);
  watch_ = made;
  if (owed_ > 0) this->credit(std::exchange(owed_, 0));
  if (cancel_) cancel();
}
RecordsSeen::~RecordsSeen() {
  if (watch_ == nullptr) return;
  cancel();
  EXPECT_TRUE(wait_for_end()) << "no end";
  const std::lock_guard lock(state_.mutex);
  state_.then = {};
}
void RecordsSeen::credit(uint32_t more) {
  const std::lock_guard lock(handle_mutex_);
  if (cancelled_) return;
  if (watch_ == nullptr) {
    owed_ += more;
  } else {
    table().credit(ref_.self, watch_, more);
  }
}
void RecordsSeen::cancel() {
  const std::lock_guard lock(handle_mutex_);
  cancel_ = true;
  if (watch_ != nullptr && !std::exchange(cancelled_, true)) table().cancel(ref_.self, watch_);
}
void RecordsSeen::on_event(void* self, const davit_records_event* e) {
  auto& seen = *static_cast<State*>(self);
  size_t so_far = 0;
  std::function<void(size_t)> then;
  {
    const std::lock_guard lock(seen.mutex);
    if (seen.ends > 0) {
      ++seen.late;
      return;
    }
    records::Event event = records::from_abi(*e);
    if (event.at.version != 0) seen.at = event.at;
    if (e->type == DAVIT_RECORDS_EVENT_SYNCED) seen.words.emplace_back("SYNCED");
    if (event.record)
      seen.words.push_back((event.record->state == "deleted" ? "-" : "") + event.record->key.id);
    seen.all.push_back(std::move(event));
    so_far = seen.all.size();
    then = seen.then;
    seen.came.notify_all();
  }
  if (then) then(so_far);
}
void RecordsSeen::on_end(void* self, const davit_error* e) {
  auto& seen = *static_cast<State*>(self);
  const std::lock_guard lock(seen.mutex);
  if (++seen.ends == 1 && e != nullptr) seen.why = take(*e, e->code);
  seen.came.notify_all();
}
bool RecordsSeen::wait(const std::function<bool()>& done) {
  std::unique_lock lock(state_.mutex);
  return state_.came.wait_for(lock, records_patience, done);
}
bool RecordsSeen::wait_for(const std::string& word, size_t times) {
  return wait([&] {
    const auto& words = state_.words;
    return static_cast<size_t>(std::count(words.begin(), words.end(), word)) >= times;
  });
}
bool RecordsSeen::wait_for_end() {
  return wait([&] { return state_.ends > 0; });
}
std::vector<std::string> RecordsSeen::words() {
  const std::lock_guard lock(state_.mutex);
  return state_.words;
}
std::string RecordsSeen::text() {
  std::string out;
  for (const auto& word : words()) out += (out.empty() ? "" : " ") + word;
  return out;
}
size_t RecordsSeen::events() {
  const std::lock_guard lock(state_.mutex);
  return state_.all.size();
}
Cursor RecordsSeen::at() {
  const std::lock_guard lock(state_.mutex);
  return state_.at;
}
std::vector<records::Event> RecordsSeen::all() {
  const std::lock_guard lock(state_.mutex);
  return state_.all;
}
size_t RecordsSeen::ends() {
  const std::lock_guard lock(state_.mutex);
  return state_.ends;
}
size_t RecordsSeen::late() {
  const std::lock_guard lock(state_.mutex);
  return state_.late;
}
std::optional<Error> RecordsSeen::why() {
  const std::lock_guard lock(state_.mutex);
  return state_.why;
}

// --- the fixture ---

void Records::SetUp() {
  sample_ = read_sample();
  ASSERT_FALSE(sample_.spec.empty() || sample_.refused.empty())
      << "conformance.records must name a file with a spec and a refused one";
  fresh_ = std::make_unique<Fresh>();
  connect();
}
void Records::connect() {
  ASSERT_TRUE(fresh_->up().ok()) << why(fresh_->up());
  ref_ = fresh_->instance().ref(DAVIT_RECORDS);
}
void Records::restart() {
  fresh_->stop();
  fresh_ = std::make_unique<Fresh>(*fresh_, TestHost::Time::real);
  connect();
}

records::Document Records::document(const std::string& id, int value) const {
  const std::string spec = replaced_in(sample_.spec, "$ID", id);
  return {key(id), {}, replaced_in(spec, "$VALUE", std::to_string(value))};
}
std::string Records::named(const std::string& id) const {
  return replaced_in(sample_.name, "$ID", id);
}
records::Document Records::in_other_region(records::Document d) const {
  d.key.region = sample_.other_region;
  return d;
}
records::Document Records::expecting(records::Document d, Version expect) {
  d.expect = expect;
  return d;
}

records::AppliedList Records::apply(records::Apply request) {
  auto& answers = calls_.emplace_back();
  const Operation op;
  answers.apply(ref_, request, op);
  if (answers.wait(1)) return answers.applied(0);
  ADD_FAILURE() << "no answer";
  return records::AppliedList(request.documents.size());
}
Cursor Records::put(const records::Document& d) {
  const auto results = apply({d});
  if (results.size() == 1 && !results[0].error) return results[0].at;
  ADD_FAILURE() << (results.size() == 1 ? results[0].error->where + ": " + results[0].error->message
                                        : std::to_string(results.size()) + " results");
  return {};
}
Result<records::Found> Records::get(const Query& query) {
  auto& answers = calls_.emplace_back();
  const Operation op;
  answers.get(ref_, query, op);
  if (answers.wait(1)) return answers.found(0);
  ADD_FAILURE() << "no answer";
  return records::Found{};
}
Result<records::Found> Records::list(const records::Read& read) {
  auto& answers = calls_.emplace_back();
  const Operation op;
  answers.list(ref_, read, op);
  if (answers.wait(1)) return answers.found(0);
  ADD_FAILURE() << "no answer";
  return records::Found{};
}
bool Records::is_stored(const std::string& id) {
  const auto found = get({key(id), {}, {}});
  EXPECT_TRUE(found.ok()) << why(found);
  return found.ok() && !found->records.empty();
}
Record Records::stored(const std::string& id) {
  auto found = get({key(id), {}, {}});
  if (found.ok() && found->records.size() == 1) return found->records.front();
  ADD_FAILURE() << id << " is not stored";
  return {};
}
std::string Records::everything() {
  std::string out;
  for (records::Read read{{}, {}, {}, 100, true};;) {
    const auto page = list(read);
    EXPECT_TRUE(page.ok()) << why(page);
    if (!page.ok()) return out;
    for (const Record& r : page->records)
      out += (r.state == "deleted" ? " -" : " ") + r.key.id + "@" + to_string(r.version);
    if (!page->more) return out;
    read.after = page->next;
  }
}
std::string Records::outcomes(const records::AppliedList& results) {
  std::string out;
  for (const auto& r : results) {
    out += out.empty() ? "" : " ";
    out += r.error ? std::to_string(static_cast<int>(r.error->code)) : r.outcome;
  }
  return out;
}

}  // namespace davit::conformance
