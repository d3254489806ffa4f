// Whose an observed object is.
#include "marks.hpp"
#include "message.hpp"

namespace davit::manifest::test {
namespace {

json::value rendered(const char* record = "web") {
  json::object m = message({config_map("a")});
  m["name"] = record;
  return landed(answered(&m, {})).at(0);
}

std::string record_of(const json::value& object) {
  const auto found = attribute(json::serialize(object));
  return found.ok() ? found->id + found->ns + "/" + found->name : "none";
}

TEST(Marks, SayWhichRecordAnObjectIsOf) {
  EXPECT_EQ(record_of(rendered()), "shop/web");
  EXPECT_EQ(record_of(rendered("web.v2")), "shop/web.v2");
}

// Whoever copies an object copies its labels and annotations. Controllers do, too.
TEST(Marks, OfACopySayNothing) {
  const std::pair<const char*, const char*> copies[] = {
      {"/metadata/name", "b"}, {"/metadata/namespace", "other"}, {"/kind", "Secret"}};
  for (const auto& [pointer, value] : copies) {
    json::value copy = rendered();
    copy.at_pointer(pointer) = value;
    EXPECT_EQ(record_of(copy), "none") << pointer;
  }
  json::value stripped = rendered();
  stripped.at_pointer("/metadata").as_object().erase("annotations");
  EXPECT_EQ(record_of(stripped), "none");
}

TEST(Marks, OfAnyTextAreNoneOrAName) {
  for (const char* mark : {"", "/", "shop/", "shop//ConfigMap/a", "shop/a b/ConfigMap/a",
                           "/web/ConfigMap/a", "shop/ConfigMap/a", "shop/x/y/ConfigMap/a"}) {
    json::value o = rendered();
    o.at_pointer("/metadata/annotations").as_object()[marks::object] = mark;
    EXPECT_EQ(record_of(o), "none") << mark;
  }
}

TEST(Marks, FitIntoALabelWhateverTheNameOfTheRecord) {
  const auto label_of = [](const std::string& record) {
    return std::string(
        rendered(record.c_str()).at_pointer("/metadata/labels/davit.dev~1manifest").as_string());
  };
  EXPECT_EQ(label_of("web"), "web");
  const std::string a(200, 'a');
  const std::string long_label = label_of(a);
  EXPECT_LE(long_label.size(), 63u);
  EXPECT_NE(long_label, label_of(a + "b"));
  EXPECT_EQ(record_of(rendered(a.c_str())), "shop/" + a);
}

TEST(Marks, OfTheContentChangeWithEachChange) {
  const auto hash_of = [](const json::object& o) {
    const json::object m = message({o});
    return landed(answered(&m, {}))
        .at(0)
        .at_pointer("/metadata/annotations/davit.dev~1manifest-hash");
  };
  EXPECT_EQ(hash_of(config_map("a")), hash_of(config_map("a")));
  EXPECT_NE(hash_of(config_map("a")), hash_of(config_map("a", "2")));
}

}  // namespace
}  // namespace davit::manifest::test
