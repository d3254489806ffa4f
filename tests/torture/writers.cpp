#include "writers.hpp"

#include <algorithm>
#include <thread>

namespace davit::torture {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* apply_path = "/davit.v1.OperatorService/Apply";
constexpr const char* delete_path = "/davit.v1.OperatorService/Delete";
constexpr size_t group_max = 3;
constexpr unsigned share_of_intents = 8;  // of so many writers one inserts intents
constexpr milliseconds before_again{20};
constexpr seconds answer_within{20};
constexpr seconds outcome_within{180};

// The server could not say; the same request may be asked again.
bool passing(int code) {
  return code == grpc::UNAVAILABLE || code == grpc::ABORTED || code == grpc::CANCELLED ||
         code == grpc::DEADLINE_EXCEEDED || code == grpc::UNKNOWN || code == grpc::INTERNAL;
}

// Half of the writes go to an eighth of the names. What is written often shows races; what is
// written seldom shows losses, because no later write can excuse them.
size_t pick(Random& random, size_t count) {
  const double share = static_cast<double>(random()) / (static_cast<double>(Random::max()) + 1);
  return static_cast<size_t>(share * share * share * static_cast<double>(count));
}

}  // namespace

Writers::Writers(Course& course, unsigned regions, unsigned names) : course_(course) {
  for (unsigned n = 0; n < names; ++n) {
    for (unsigned region = 0; region < regions; ++region) {
      for (const auto& kind : kinds()) {
        auto& name = *names_.emplace_back(std::make_unique<Name>());
        name.topic = {kind.name, "r" + std::to_string(region)};
        name.kind = &kind;
        name.name = "n" + std::to_string(n);
      }
    }
  }
}

Writers::Group Writers::take(Random& random, bool live_only) {
  Group group;
  const size_t size = 1 + random() % group_max;
  for (size_t tries = 0; group.size() < size && tries < 4 * size; ++tries) {
    Name& name = *names_[pick(random, names_.size())];
    const auto same = [&](const Held& h) { return h.name == &name; };
    if (std::any_of(group.begin(), group.end(), same)) continue;
    std::unique_lock lock(name.mutex, std::try_to_lock);
    if (!lock.owns_lock() || (live_only && !name.live)) continue;
    group.push_back({&name, std::move(lock), {}, {}});
  }
  return group;
}

void Writers::plan_apply(Random& random, Group& group, const std::string& request) {
  for (size_t i = 0; i < group.size(); ++i) {
    Name& name = *group[i].name;
    group[i].expected = name.live ? "changed" : "created";
    // What is dead comes back under its own id now and then, mostly under a new one.
    const bool comes_back = name.born > 0 && random() % 4 == 0;
    if (!name.live && !comes_back) {
      // Ids are of one store, names of a region.
      name.id = name.name + "." + name.topic.region + "." + std::to_string(++name.born);
    } else if (!name.live) {
      const unsigned which = name.born - static_cast<unsigned>(random() % std::min(name.born, 2u));
      name.id = name.name + "." + name.topic.region + "." + std::to_string(which);
    }
    group[i].write = {name.name, name.id, request + "." + std::to_string(i),    true, 0,
                      0,         0,       request + "#" + std::to_string(i + 1)};
  }
}

// Most writers are operators. Some are another program, which never speaks to a server: it inserts
// intents, and looks what becomes of them.
void Writers::run(unsigned number) {
  Random random(course_.place.seed * 1000 + number);
  Doors doors(course_.place.operators, course_.place.seed * 4000 + number);
  std::optional<Intents> intents;
  if (course_.place.database.find('=') != std::string::npos && number % share_of_intents == 1)
    intents.emplace(course_.place.database);
  const std::string name = (intents ? "i" : "w") + std::to_string(number) + "-";
  std::optional<Past> past;
  for (unsigned serial = 0; course_.writing && !course_.over; ++serial) {
    const bool deletes = random() % 3 == 0;
    Group group = take(random, deletes);
    if (group.empty()) {
      std::this_thread::sleep_for(milliseconds(1));
      continue;
    }
    if (deletes) {
      plan_removal(group);
    } else {
      plan_apply(random, group, name + std::to_string(serial));
    }
    const bool keeps = !past && random() % 8 == 0;
    if (!(intents   ? insert(*intents, group)
          : deletes ? remove(doors, group)
                    : apply(doors, group, keeps ? &past : nullptr)))
      return;
    group.clear();
    if (past && random() % 8 == 0 && ask_again(doors, *past)) past.reset();
    std::this_thread::sleep_for(random() * course_.place.pause_max / Random::max());
  }
}

void Writers::plan_removal(Group& group) {
  for (auto& held : group) {
    held.expected = "deleted";
    held.write = {held.name->name, held.name->id, {}, false, 0, 0, 0, {}};
  }
}

bool Writers::remove(Doors& doors, Group& group) {
  v1::DeleteRequest request;
  for (auto& held : group) {
    auto* key = request.add_keys();
    key->set_kind(held.name->topic.kind);
    key->set_region(held.name->topic.region);
    key->set_id(held.write.id);
  }
  return carry_out<v1::DeleteResponse>(doors, delete_path, request, group);
}

bool Writers::apply(Doors& doors, Group& group, std::optional<Past>* past) {
  v1::ApplyRequest request;
  const std::string& first = group[0].write.request_id;
  request.set_request_id(first.substr(0, first.find('#')));
  for (const auto& held : group) {
    const Write& w = held.write;
    auto* document = request.add_documents();
    document->set_kind(held.name->topic.kind);
    document->set_region(held.name->topic.region);
    document->set_id(w.id);
    document->set_spec_json(held.name->kind->spec(w.id, w.name, w.content, course_.place.filler));
  }
  if (!carry_out<v1::ApplyResponse>(doors, apply_path, request, group)) return false;
  if (past != nullptr) *past = past_of(std::move(request), group);
  return true;
}

Writers::Past Writers::past_of(v1::ApplyRequest request, const Group& group) {
  Past past{std::move(request), {}, {}};
  for (const auto& held : group) {
    past.names.push_back(held.name);
    past.versions.push_back(held.write.version);
  }
  return past;
}

template <class Response, class Request>
bool Writers::carry_out(Doors& doors, const char* path, const Request& request, Group& group) {
  const uint64_t asked = course_.tick();
  for (auto& held : group) held.write.asked = asked;
  const auto give_up = bench::Clock::now() + outcome_within * course_.place.patience;
  for (bool again = false;; again = true) {
    if (course_.over) return false;
    const auto& channel = doors.any();
    if (again) {
      if (bench::Clock::now() > give_up) {
        wrong(group[0], "the outcome of a write could not be learned");
        return false;
      }
      ++repeated_;
      std::this_thread::sleep_for(before_again);
      wait_for_connection(*channel);
    }
    try {
      const auto response = bench::call<Response>(channel, path, request, {}, {},
                                                  in(answer_within * course_.place.patience));
      if (response.outcomes_size() != static_cast<int>(group.size())) {
        wrong(group[0], "a request was answered with another number of outcomes");
        return false;
      }
      bool all = true;
      for (size_t i = 0; i < group.size(); ++i)
        all &= settle(group[i], response.outcomes(static_cast<int>(i)), again);
      if (!all) continue;
    } catch (const bench::Ended& e) {
      if (passing(e.code)) continue;
      wrong(group[0], std::string("a request was refused: ") + e.what());
      return false;
    }
    keep(group);
    return true;
  }
}

void Writers::keep(Group& group) {
  const uint64_t answered = course_.tick();
  for (auto& held : group) {
    held.write.answered = answered;
    held.name->live = held.write.live;
    held.name->writes.push_back(std::move(held.write));
    ++written_;
  }
  ++commits_;
}

bool Writers::insert(Intents& intents, Group& group) {
  std::vector<std::string> documents;
  for (auto& held : group) {
    Write& w = held.write;
    w.asked = course_.tick();
    w.request_id.clear();
    const Name& name = *held.name;
    const std::string rest =
        w.live ? "\"spec\":" + name.kind->spec(w.id, w.name, w.content, course_.place.filler)
               : "\"delete\":true";
    documents.push_back(R"({"kind":")" + name.topic.kind + R"(","region":")" + name.topic.region +
                        R"(","id":")" + w.id + "\"," + rest + "}");
  }
  const std::vector<std::string> ids = intents.insert(documents);
  const auto give_up = bench::Clock::now() + outcome_within * course_.place.patience;
  for (size_t i = 0; i < ids.size();) {
    const auto outcome = intents.outcome(ids[i]);
    if (outcome && !outcome->error.empty()) wrong(group[i], "an intent failed: " + outcome->error);
    if (outcome) group[i++].write.version = outcome->version;
    if (outcome) continue;
    if (course_.over) return false;
    if (bench::Clock::now() > give_up) {
      wrong(group[i], "intent " + ids[i] + " has no outcome");
      return false;
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
  intents_ += ids.size();
  keep(group);
  return true;
}

bool Writers::ask_again(Doors& doors, const Past& past) {
  std::vector<std::unique_lock<std::mutex>> locks;
  for (Name* name : past.names) {
    locks.emplace_back(name->mutex, std::try_to_lock);
    if (!locks.back().owns_lock()) return false;
  }
  try {
    const auto response = bench::call<v1::ApplyResponse>(
        doors.any(), apply_path, past.request, {}, {}, in(answer_within * course_.place.patience));
    for (size_t i = 0; i < past.names.size(); ++i) {
      const auto& outcome = response.outcomes(static_cast<int>(i));
      if (outcome.type() == v1::Outcome::TYPE_REFUSED && passing(outcome.code())) return false;
      if (outcome.version() == past.versions[i]) continue;
      course_.fault({"request \"" + past.request.request_id() +
                         "\" was asked again and answered \"" + outcome.outcome() +
                         "\" with version " + std::to_string(outcome.version()) + " (" +
                         outcome.message() + "), first with " + std::to_string(past.versions[i]),
                     past.names[i]->topic,
                     past.names[i]->name,
                     {}});
    }
  } catch (const bench::Ended&) {
    return false;
  }
  ++repeated_;
  return true;
}

// False: ask again. Who asks again finds its own write made, and is told so.
template <class Outcome>
bool Writers::settle(Held& held, const Outcome& outcome, bool repeated) {
  const std::string& word = outcome.outcome();
  if (outcome.type() == v1::Outcome::TYPE_REFUSED && passing(outcome.code())) return false;
  const std::string made = held.write.live ? "unchanged" : "absent";
  if (word != held.expected && !(repeated && word == made)) {
    wrong(held, "the answer was \"" + word + "\" (" + outcome.message() + "), expected was \"" +
                    held.expected + "\"");
  }
  if (held.write.version != 0 && outcome.version() != 0 &&
      held.write.version != outcome.version()) {
    wrong(held, "answered with version " + std::to_string(held.write.version) + " and then with " +
                    std::to_string(outcome.version()));
  }
  if (outcome.version() != 0) held.write.version = outcome.version();
  if (held.write.version == 0 && held.write.live) wrong(held, "a write has no version");
  return true;
}

void Writers::wrong(const Held& held, const std::string& what) {
  course_.fault({what + "; id " + held.write.id + ", content \"" + held.write.content + "\"",
                 held.name->topic,
                 held.name->name,
                 {}});
}

Journal Writers::take_journal() {
  Journal out;
  for (const auto& name : names_) out[name->topic][name->name] = std::move(name->writes);
  return out;
}

}  // namespace davit::torture
