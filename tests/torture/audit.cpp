#include "audit.hpp"

#include <algorithm>

namespace davit::torture {
namespace {

// Of a story, before and after the fault.
constexpr size_t lines_before = 10, lines_after = 3;

// The store remembers the requests of so many versions at least.
constexpr uint64_t requests_kept = 100'000;

using Lines = std::vector<std::pair<uint64_t, std::string>>;  // with their time

std::string show(const Write& w) {
  return (w.live ? "write of " : "delete of ") + w.id + " at version " +
         (w.version == 0 ? "?" : std::to_string(w.version)) +
         (w.live ? " (" + w.content + ")" : "");
}

std::string show(const Object* o) {
  return o == nullptr
             ? "nothing"
             : o->id + " at version " + std::to_string(o->version) + " (" + o->content + ")";
}

std::string around(uint64_t time, const char* title, const Lines& lines) {
  if (lines.empty()) return {};
  const auto later = std::upper_bound(lines.begin(), lines.end(), time,
                                      [](uint64_t t, const auto& line) { return t < line.first; });
  const auto index = static_cast<size_t>(later - lines.begin());
  const size_t begin = index - std::min(index, lines_before);
  const size_t end = std::min(lines.size(), index + lines_after);
  std::string out = "  " + std::string(title) + ":\n";
  for (size_t i = begin; i < end; ++i) out += "    " + lines[i].second + "\n";
  return out;
}

const Object* at(const Objects& objects, const std::string& name) {
  const auto found = objects.find(name);
  return found == objects.end() ? nullptr : &found->second;
}

bool is_result(const Object* object, const Write& w) {
  if (!w.live) return object == nullptr;
  return object != nullptr && *object == Object{w.id, w.content, w.version};
}

}  // namespace

Audit::Audit(const Journal& journal) : journal_(journal) {
  for (const auto& [topic, names] : journal) {
    Entries& entries = by_version_[topic];
    for (const auto& [name, writes] : names) {
      for (size_t i = 0; i < writes.size(); ++i) {
        if (writes[i].version == 0) continue;
        entries.push_back({&writes[i], i + 1 < writes.size() ? &writes[i + 1] : nullptr});
      }
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.write->version < b.write->version; });
  }
}

void Audit::fault(std::string what, const Topic& topic, std::string name, std::string who,
                  uint64_t at) {
  faults_.push_back({std::move(what), topic, std::move(name), std::move(who), at});
}

void Audit::writes() {
  struct Placed {
    const Write* write;
    const Topic* topic;
  };
  std::vector<Placed> asked;
  for (const auto& [topic, names] : journal_) {
    for (const auto& [name, writes] : names) {
      for (const auto& w : writes) {
        if (w.version != 0) asked.push_back({&w, &topic});
      }
    }
  }
  std::vector<Placed> answered = asked;
  std::sort(asked.begin(), asked.end(),
            [](const Placed& a, const Placed& b) { return a.write->asked < b.write->asked; });
  std::sort(answered.begin(), answered.end(),
            [](const Placed& a, const Placed& b) { return a.write->answered < b.write->answered; });
  std::set<uint64_t> given;
  uint64_t known = 0;  // the highest version answered before
  size_t next = 0;
  for (const auto& [w, topic] : asked) {
    while (next < answered.size() && answered[next].write->answered < w->asked)
      known = std::max(known, answered[next++].write->version);
    if (!given.insert(w->version).second)
      fault("version " + std::to_string(w->version) + " was given twice", *topic, w->name);
    if (w->version <= known) {
      fault(show(*w) + " was asked for when version " + std::to_string(known) + " had been given",
            *topic, w->name);
    }
  }
}

const Write* Audit::find(const Topic& topic, uint64_t version) const {
  const auto of_topic = by_version_.find(topic);
  if (of_topic == by_version_.end()) return nullptr;
  const auto found =
      std::lower_bound(of_topic->second.begin(), of_topic->second.end(), version,
                       [](const Entry& e, uint64_t wanted) { return e.write->version < wanted; });
  return found != of_topic->second.end() && found->write->version == version ? found->write
                                                                             : nullptr;
}

// What version a deleted record has that is not the one of its delete as it was answered: nobody
// heard that one, or a later record took the name, which gives the deleted one another version.
bool Audit::explains(const Topic& topic, const std::string& name, uint64_t version) const {
  const auto names = journal_.find(topic);
  if (names == journal_.end()) return false;
  const auto writes = names->second.find(name);
  if (writes == names->second.end()) return false;
  const auto& all = writes->second;
  for (size_t i = 0; i < all.size(); ++i) {
    const Write& w = all[i];
    const Write* next = i + 1 < all.size() ? &all[i + 1] : nullptr;
    if (w.version == 0) {
      const bool after = i == 0 || all[i - 1].version < version;
      const bool before = next == nullptr || next->version == 0 || version < next->version;
      if (after && before) return true;
    } else if (!w.live && next != nullptr && next->live) {
      if (w.version < version && version < next->version) return true;
    }
  }
  return false;
}

void Audit::judge_delivery(const std::string& who, const Topic& topic, const Step& step) {
  const uint64_t version = step.now ? step.now->version : step.through;
  if (version == 0) return;  // a snapshot did not name it
  const Write* w = find(topic, version);
  if (w == nullptr) {
    if (!step.now && explains(topic, step.name, version)) return;
    return fault("sent version " + std::to_string(version) + ", which nobody wrote", topic,
                 step.name, who, step.at);
  }
  if (w->name != step.name || !is_result(step.now ? &*step.now : nullptr, *w)) {
    fault("sent " + show(step.now ? &*step.now : nullptr) + " as version " +
              std::to_string(version) + ", which is the " + show(*w),
          topic, step.name, who, step.at);
  }
}

void Audit::judge_state(const std::string& who, const Topic& topic, const Entry& passed,
                        const Objects& objects, uint64_t now) {
  const Write& w = *passed.write;
  if (passed.next != nullptr && passed.next->asked < now) return;  // may have been followed
  const Object* held = at(objects, w.name);
  if (is_result(held, w)) return;
  const char* what = !w.live           ? "a delete was missed, or undone: "
                     : held == nullptr ? "a record was lost: "
                                       : "a change was lost: ";
  lost_.insert(w.version);
  fault(what + show(w) + " has been passed, and there is " + show(held), topic, w.name, who, now);
}

void Audit::reader(const std::string& who, const Topic& topic, const Steps& steps) {
  const Entries& entries = by_version_[topic];
  Objects objects;
  size_t passed = 0;
  for (const auto& step : steps) {
    if (!step.name.empty()) {
      if (step.now) {
        objects[step.name] = *step.now;
      } else {
        objects.erase(step.name);
      }
      judge_delivery(who, topic, step);
    }
    if (step.whole) passed = 0;
    for (; passed < entries.size() && entries[passed].write->version <= step.through; ++passed)
      judge_state(who, topic, entries[passed], objects, step.at);
  }
}

void Audit::rest(const std::string& who, const Topic& topic, const Objects& objects,
                 const Stored& stored) {
  Objects wanted;
  for (const auto& row : stored.rows) {
    if (row.live && row.topic == topic) wanted[row.name] = {row.id, row.content, row.version};
  }
  for (const auto& [name, object] : wanted) {
    const Object* held = at(objects, name);
    if (held == nullptr || *held != object) {
      lost_.insert(object.version);
      fault("at rest there is " + show(held) + ", and the store has " + show(&object), topic, name,
            who);
    }
  }
  for (const auto& [name, object] : objects) {
    if (!wanted.count(name))
      fault("at rest there is " + show(&object) + ", which the store does not have", topic, name,
            who);
  }
}

void Audit::judge_row(const Row& row) {
  const Write* w = find(row.topic, row.version);
  if (w == nullptr && !row.live && explains(row.topic, row.name, row.version)) return;
  if (w == nullptr || w->name != row.name || w->id != row.id || w->live != row.live ||
      (row.live && w->content != row.content)) {
    return fault("stored: " + row.id + " at version " + std::to_string(row.version) +
                     (w == nullptr ? ", which nobody wrote" : ", which is the " + show(*w)),
                 row.topic, row.name);
  }
  if (!w->request_id.empty() && w->request_id != row.request_id)
    fault("stored under request \"" + row.request_id + "\": the " + show(*w), row.topic, row.name);
}

// A group is its records and its request: both are there, or none.
void Audit::judge_requests(const Stored& stored) {
  std::map<std::string, std::pair<const Topic*, const Write*>> asked;
  for (const auto& [topic, names] : journal_) {
    for (const auto& [name, writes] : names) {
      for (const auto& w : writes) {
        if (!w.request_id.empty()) asked[w.request_id] = {&topic, &w};
      }
    }
  }
  for (const auto& [id, version] : stored.requests) {
    const auto found = asked.find(id);
    if (found == asked.end()) {
      fault("request \"" + id + "\" is stored, and nobody was answered", {});
    } else if (found->second.second->version != version) {
      fault("request \"" + id + "\" is stored with version " + std::to_string(version) +
                ", not as the " + show(*found->second.second),
            *found->second.first, found->second.second->name);
    }
  }
  for (const auto& [id, made] : asked) {
    const auto& [topic, w] = made;
    if (w->version + requests_kept > stored.head && !stored.requests.count(id))
      fault("request \"" + id + "\" is not stored: the " + show(*w), *topic, w->name);
  }
}

void Audit::store(const Stored& stored) {
  Ids rows;
  std::map<Topic, std::set<std::string>> live;  // names
  for (const auto& row : stored.rows) {
    judge_row(row);
    rows[{row.topic, row.id}] = &row;
    if (row.live && !live[row.topic].insert(row.name).second)
      fault("two live records have one name", row.topic, row.name);
    if (!row.live && row.version <= stored.purged_through)
      fault("a tombstone below the purge mark is still stored", row.topic, row.name);
  }
  uint64_t newest = 0;
  bool all_heard = true;
  for (const auto& [topic, names] : journal_) {
    for (const auto& [name, writes] : names) {
      std::map<std::string, const Write*> last;  // of each id
      for (const auto& w : writes) {
        last[w.id] = &w;
        newest = std::max(newest, w.version);
        all_heard &= w.version != 0;
      }
      for (const auto& [id, w] : last) judge_last(topic, *w, rows, stored.purged_through);
    }
  }
  if (all_heard ? newest != stored.head : newest > stored.head)
    fault("the head is " + std::to_string(stored.head) + ", and the newest write " +
              std::to_string(newest),
          {});
  judge_requests(stored);
}

// The last write of an id is what is stored of it.
void Audit::judge_last(const Topic& topic, const Write& w, const Ids& rows, uint64_t purged) {
  const auto row = rows.find({topic, w.id});
  if (row == rows.end()) {
    if (!w.live && w.version <= purged) return;
    lost_.insert(w.version);
    fault("lost: the " + show(w) + " was answered and is not stored", topic, w.name);
  } else if (w.version != 0 && row->second->version != w.version &&
             (row->second->live || !explains(topic, w.name, row->second->version))) {
    lost_.insert(w.version);
    fault("lost: the " + show(w) + " was answered, and version " +
              std::to_string(row->second->version) + " is stored",
          topic, w.name);
  }
}

std::string Audit::story(const Fault& fault, const Steps& steps) const {
  std::string out = fault.topic.kind + " \"" + fault.name + "\" of " + fault.topic.region +
                    (fault.reader.empty() ? "" : ", reader " + fault.reader) + ": " + fault.what +
                    "\n";
  Lines written, heard;
  const auto names = journal_.find(fault.topic);
  if (names != journal_.end() && names->second.count(fault.name)) {
    for (const auto& w : names->second.at(fault.name))
      written.push_back(
          {w.asked, std::to_string(w.asked) + ", " + std::to_string(w.answered) + ": " + show(w)});
  }
  for (const auto& step : steps) {
    if (step.name != fault.name && !step.whole) continue;
    const std::string what =
        step.name.empty() ? "the end of a snapshot" : show(step.now ? &*step.now : nullptr);
    const std::string how =
        step.through == 0 ? "from a snapshot" : "through " + std::to_string(step.through);
    heard.push_back({step.at, std::to_string(step.at) + ": " + what + ", " + how});
  }
  return out + around(fault.at, "written (asked, answered)", written) +
         around(fault.at, "heard (at)", heard);
}

}  // namespace davit::torture
