// How JSON of others is read: what counts as absent, and which fault is kept.
#include "kubernetes/fields.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "kubernetes/message.hpp"

namespace davit::kubernetes {
namespace {

namespace json = boost::json;

// "where: message" of the fault, after `read` has read the message.
template <class Read>
std::string fault_of(const char* message, Read read) {
  const json::object object = json::parse(message).as_object();
  std::optional<Error> fault;
  read(Fields(object, fault));
  return fault ? fault->where + ": " + fault->message : "none";
}

TEST(Fields, KeepTheFirstFault) {
  EXPECT_EQ(fault_of(R"({"a":1,"b":2})",
                     [](const Fields& f) {
                       EXPECT_EQ(f.string("b"), "");
                       EXPECT_EQ(f.string("a"), "");
                       EXPECT_EQ(f.needed("c"), "");
                     }),
            "b: must be a string, not a number");
}

TEST(Fields, NameTheWholePathOfAFault) {
  EXPECT_EQ(fault_of(R"({"list":[{"inner":{"n":"x"}}]})",
                     [](const Fields& f) {
                       const json::object inner{{"n", "x"}};
                       f.inside({}, "list[0]").inside(inner, "inner").integer("n", 0, 9);
                     }),
            "list[0].inner.n: must be a whole number, not \"x\"");
}

TEST(Fields, TakeNullForAbsent) {
  EXPECT_EQ(fault_of(R"({"a":null})",
                     [](const Fields& f) {
                       EXPECT_FALSE(f.has("a"));
                       EXPECT_EQ(f.string("a"), "");
                       EXPECT_EQ(f.integer("a", 0, 9), 0);
                       EXPECT_EQ(f.optional_integer("a", 1, 9), std::nullopt);
                       EXPECT_EQ(f.object("a"), nullptr);
                       EXPECT_TRUE(f.strings("a").empty());
                     }),
            "none");
  EXPECT_EQ(fault_of(R"({"a":null})", [](const Fields& f) { f.needed("a"); }), "a: is missing");
}

TEST(Fields, TakeANumberOrItsDigits) {
  const std::tuple<const char*, int64_t, const char*> rows[] = {
      {R"({"n":5})", 5, "none"},
      {R"({"n":"5"})", 5, "none"},
      {R"({"n":"9223372036854775808"})", 1,
       "n: must be a whole number, not \"9223372036854775808\""},
      {R"({"n":""})", 1, "n: must be a whole number, not \"\""},
      {R"({"n":1.5})", 1, "n: must be a whole number of at most 64 bits"},
      {R"({"n":[]})", 1, "n: must be a whole number, not a list"},
      {R"({})", 1, "n: must be at least 1, not 0"},
      {R"({"n":10})", 1, "n: must be at most 9, not 10"}};
  for (const auto& [message, expected, fault] : rows) {
    EXPECT_EQ(fault_of(message, [&, wanted = expected](
                                    const Fields& f) { EXPECT_EQ(f.integer("n", 1, 9), wanted); }),
              fault);
  }
}

TEST(Fields, CheckIdsAndImages) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {R"({"x":"id_1"})", "none", "none"},
      {R"({})", "x: is missing", "none"},
      {R"({"x":"a b"})", "x: must be usable as a label", "x: must be usable as a label"}};
  for (const auto& [message, needed, optional] : rows) {
    const auto of_needed = fault_of(message, [](const Fields& f) { needed_id(f, "x"); });
    const auto of_optional = fault_of(message, [](const Fields& f) { optional_id(f, "x"); });
    EXPECT_TRUE(of_needed.starts_with(needed)) << of_needed;
    EXPECT_TRUE(of_optional.starts_with(optional)) << of_optional;
  }
  EXPECT_EQ(fault_of(R"({"x":"a b"})", [](const Fields& f) { needed_image(f, "x"); }),
            "x: must not contain white space");
}

TEST(ParseObject, SaysWhatIsWrongWithWhichText) {
  const auto list = parse_object("[]", "the report");
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().message, "the report is not a JSON object");
  const auto garbage = parse_object("{", "the report");
  ASSERT_FALSE(garbage.ok());
  EXPECT_TRUE(garbage.error().message.starts_with("the report is not JSON: "));
  EXPECT_EQ(garbage.error().code, Code::invalid_argument);
}

}  // namespace
}  // namespace davit::kubernetes
