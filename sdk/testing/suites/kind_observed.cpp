// Role kind: what it makes of what is in the cluster (K6 to K8), and of names (K3).
//
// `conformance.observed` names a JSON file with a list of cases:
//
//   {"id": "w-1",                       the sample that is desired, by its id
//    "merge": [{"kind": "Deployment", "status": {...}}],
//    "add": [{"template_of": "Deployment", "object": {...}}],
//    "status": {"health": "healthy", "desired": 2, "updated": 2, "ready": 2, "stale": 0}}
//
// What is observed are the objects that the kind itself applies for the sample, each with the
// members of its entry of "merge" put in, and then the objects of "add". One with "template_of"
// gets the labels and annotations of that object's /spec/template, and is controlled by it, as a
// pod is. The status must have the members that the case has. "merge" and "add" may be left out.
#include <set>

#include "kind.hpp"

namespace davit::conformance {
namespace {

void merge(json::value& into, const json::value& from) {
  if (!into.is_object() || !from.is_object()) {
    into = from;
    return;
  }
  for (const auto& member : from.get_object()) {
    json::value& at = into.get_object()[member.key()];
    merge(at, member.value());
  }
}

json::value* of_kind(json::array& objects, const std::string& kind) {
  for (auto& object : objects) {
    if (text_at(object, "/kind") == kind) return &object;
  }
  ADD_FAILURE() << "conformance.observed: the kind applies no " << kind;
  return nullptr;
}

const json::array& list_in(const json::value& from, const char* key) {
  static const json::array none;
  const auto* found = from.as_object().if_contains(key);
  return found == nullptr ? none : found->as_array();
}

// An object of "add", as the controller of `owner` makes it.
json::value made_by(const json::value& owner, json::value object) {
  json::error_code none;
  const auto* metadata = owner.find_pointer("/spec/template/metadata", none);
  if (metadata != nullptr) {
    json::value with = json::object{{"metadata", *metadata}};
    merge(with, object);
    object = std::move(with);
  }
  object.at("metadata").as_object()["ownerReferences"] =
      json::array{json::object{{"apiVersion", owner.at("apiVersion")},
                               {"kind", owner.at("kind")},
                               {"name", owner.at("metadata").at("name")},
                               {"uid", owner.at("metadata").at("uid")},
                               {"controller", true}}};
  return object;
}

std::set<std::string> named_in(const json::array& steps, const char* in) {
  std::set<std::string> out;
  for (const auto& step : steps) {
    const json::value& of = *in == '\0' ? step : step.at(in);
    const char* at = *in == '\0' ? "" : "/metadata";
    out.insert(text_at(of, std::string(at) + "/namespace") + "/" +
               text_at(of, std::string(at) + "/name"));
  }
  return out;
}

std::string place_of(const json::value& object) {
  return text_at(object, "/metadata/namespace") + "/" + text_at(object, "/metadata/name");
}

}  // namespace

std::string KindTest::ok(const std::string& input) const {
  const auto output = settled(input);
  EXPECT_TRUE(output.ok()) << why(output);
  if (!output.ok()) return R"({"apply":[],"delete":[],"status":{"health":"unknown"}})";
  EXPECT_EQ(shape_fault(*output), "");
  return *output;
}

json::array KindTest::landed(const std::string& output) const {
  json::array out;
  const json::value plan = json::parse(output);
  for (const auto& step : plan.at("apply").as_array()) {
    const auto* resource = described_kind(step.at("object"));
    if (resource == nullptr || resource->role != DAVIT_RESOURCE_OWNED) continue;
    json::value object = step.at("object");
    object.at("metadata").as_object()["uid"] =
        "00000000-0000-4000-8000-" + std::to_string(100000000000 + out.size());
    object.at("metadata").as_object()["resourceVersion"] = "7";
    out.push_back(std::move(object));
  }
  return out;
}

namespace {

class KindObserved : public KindTest {
 protected:
  json::array observed_of(const json::value& test, const Named& named,
                          const json::value& sample) const {
    json::array there = landed(ok(input_of(named, &sample, {})));
    for (const auto& entry : list_in(test, "merge")) {
      if (auto* object = of_kind(there, text_at(entry, "/kind"))) merge(*object, entry);
    }
    json::array added;
    for (const auto& entry : list_in(test, "add")) {
      const std::string owner = text_at(entry, "/template_of");
      const json::value* of = owner.empty() ? nullptr : of_kind(there, owner);
      added.push_back(of == nullptr ? entry.at("object") : made_by(*of, entry.at("object")));
    }
    for (auto& object : added) there.push_back(std::move(object));
    return there;
  }
  json::array terminating(json::array objects) const {
    for (auto& object : objects) {
      auto& metadata = object.at("metadata").as_object();
      metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
      metadata["finalizers"] = json::array{"example.com/wait"};
    }
    return objects;
  }
};

TEST_F(KindObserved, K8_IsJudgedAsTheCasesSay) {
  const json::value cases = file_of("observed");
  if (!cases.is_array()) GTEST_SKIP() << "conformance.observed names no list of cases";
  for (const auto& test : cases.get_array()) {
    const std::string id = text_at(test, "/id");
    size_t found = 0;
    for (const json::value sample : samples()) {
      const Named named = kind_.identify(json::serialize(sample)).value();
      if (named.id != id) continue;
      ++found;
      const auto there = observed_of(test, named, sample);
      const json::value plan = json::parse(ok(input_of(named, &sample, there)));
      for (const auto& member : test.at("status").as_object()) {
        const auto* is = plan.at("status").as_object().if_contains(member.key());
        EXPECT_TRUE(is != nullptr && *is == member.value())
            << id << ": status." << member.key() << " must be " << member.value() << "\n"
            << plan.at("status") << "\nof " << there;
      }
    }
    EXPECT_EQ(found, 1u) << "samples of the case \"" << id << "\"";
  }
}

TEST_F(KindObserved, K8_CountsNothingWhereNothingIs) {
  for (const json::value sample : samples()) {
    const Named named = kind_.identify(json::serialize(sample)).value();
    const json::value plan = json::parse(ok(input_of(named, &sample, {})));
    const auto& status = plan.at("status").as_object();
    for (const char* count : {"updated", "ready", "stale"}) {
      EXPECT_TRUE(!status.contains(count) || status.at(count) == 0)
          << count << " is " << status.at(count) << " of " << named.id;
    }
    EXPECT_NE(text_at(plan, "/status/health"), "healthy") << named.id;
    if (const auto* children = status.if_contains("children"); children != nullptr) {
      EXPECT_TRUE(children->as_array().empty()) << named.id;
    }
  }
}

TEST_F(KindObserved, K7_IsNotDeletedOnceMoreWhileItEnds) {
  for (const json::value sample : samples()) {
    const Named named = kind_.identify(json::serialize(sample)).value();
    const auto ending = terminating(landed(ok(input_of(named, &sample, {}))));
    const json::value plan = json::parse(ok(input_of(named, nullptr, ending)));
    EXPECT_EQ(plan.at("delete"), json::array()) << "it has a deletionTimestamp";
    EXPECT_NE(plan.at("status").at("gone"), true) << "it is still there";
  }
}

// Each optional part of each sample is left out, one at a time.
TEST_F(KindObserved, K6_IsDeletedWhenItIsNoLongerWanted) {
  for (const auto& sample : samples()) {
    const json::value full = sample;
    const Named named = kind_.identify(json::serialize(full)).value();
    const auto there = landed(ok(input_of(named, &full, {})));
    std::vector<json::value> less;
    for (const auto& member : sample) {
      json::object without = sample;
      without.erase(member.key());
      less.emplace_back(std::move(without));
      const auto* inner = member.value().if_object();
      for (size_t i = 0; inner != nullptr && i < inner->size(); ++i) {
        json::object part = sample;
        part[member.key()].as_object().erase((inner->begin() + static_cast<ptrdiff_t>(i))->key());
        less.emplace_back(std::move(part));
      }
    }
    for (const auto& wanted : less) {
      const std::string apply = json::serialize(wanted);
      const auto same = kind_.identify(apply);
      if (!same.ok() || *same != named || !kind_.validate(apply).ok()) continue;
      const json::value plan = json::parse(ok(input_of(named, &wanted, there)));
      const auto applied = named_in(plan.at("apply").as_array(), "object");
      const auto removed = named_in(plan.at("delete").as_array(), "");
      for (const auto& object : there) {
        const std::string place = place_of(object);
        EXPECT_TRUE(applied.count(place) != 0 || removed.count(place) != 0)
            << text_at(object, "/kind") << " " << place << " is neither applied nor deleted for "
            << apply;
      }
    }
  }
}

// The samples' own namespace and name are replaced, wherever the message has them.
TEST_F(KindObserved, K3_NamesThatKubernetesRefusesAreRefused) {
  const std::string bad[] = {"Not A Name", "UPPER", "under_score", "-begins",
                             "ends-",      "a/b",   "\xc3\xa9",    std::string(254, 'x')};
  for (const auto& sample : samples()) {
    const Named named = kind_.identify(json::serialize(sample)).value();
    for (const auto& member : sample) {
      const auto* text = member.value().if_string();
      if (text == nullptr || (*text != named.name && *text != named.ns)) continue;
      for (const std::string& name : bad) {
        json::object changed = sample;
        changed[member.key()] = name;
        const std::string apply = json::serialize(changed);
        const auto found = kind_.identify(apply);
        if (found.ok() && found->name != name && found->ns != name) continue;  // not a name's place
        const auto valid = kind_.validate(apply);
        ASSERT_FALSE(valid.ok()) << member.key() << " \"" << name << "\" is valid";
        EXPECT_FALSE(valid.error().where.empty()) << "the error must name the field";
      }
    }
  }
}

}  // namespace
}  // namespace davit::conformance
