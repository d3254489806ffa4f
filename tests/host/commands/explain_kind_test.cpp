#include "commands/explain_kind.hpp"

#include <gtest/gtest.h>

#include <davit/v1/operator.pb.h>

#include "davit_wire_descriptors.h"

namespace davit::host {
namespace {

// A message of ours takes the part of a kind's.
v1::KindFields kind(const std::string& type) {
  v1::KindFields out;
  out.set_kind("thing");
  out.set_spec_type(type);
  out.set_descriptor_set(std::string(view(davit_wire_descriptors())));
  out.set_default_state("running");
  return out;
}

std::string explained_text(const std::string& path,
                           const std::string& type = "davit.v1.OperatorGetResponse") {
  const auto text = explain_kind(kind(type), path);
  return text.ok()
             ? *text
             : std::to_string(static_cast<int>(text.error().code)) + " " + text.error().message;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ExplainKind, NamesEachFieldWithItsTypeAndItsComment) {
  const std::string text = explained_text("");
  EXPECT_TRUE(says(text, "KIND:  thing\nFIELD: spec (OperatorGetResponse)\n")) << text;
  EXPECT_TRUE(says(text, "unless it has another.\n")) << text;
  EXPECT_TRUE(says(text, "  record  <StoredRecord>\n")) << text;
  EXPECT_TRUE(
      says(text, "  columns  <list of PrinterColumn>\n    Of the record's kind, for its spec.\n"))
      << text;
}

TEST(ExplainKind, FollowsAPath) {
  EXPECT_EQ(explained_text("spec.record.document"), explained_text("record.document"));
  const std::string field = explained_text("record.document.id");
  EXPECT_TRUE(says(field, "FIELD: spec.record.document.id (text)\n\n  May be empty when the spec"))
      << field;
  const std::string map = explained_text("record.document.annotations");
  EXPECT_TRUE(says(map, "(texts by name)")) << map;
  EXPECT_TRUE(says(explained_text("columns[0].path"), "FIELD: spec.columns.path (text)"));
}

TEST(ExplainKind, AFieldThatIsNotThereIsSaidSo) {
  EXPECT_EQ(explained_text("recrod"),
            "5 spec of kind \"thing\" has no field \"recrod\"; did you mean \"record\"?");
  EXPECT_EQ(explained_text("record.document.id.x"),
            "5 spec.record.document.id is text and has no fields");
  EXPECT_TRUE(says(explained_text("zzzzzz"), "; it has record, status, columns"));
}

TEST(ExplainKind, ADamagedKindIsNoCrash) {
  EXPECT_TRUE(says(explained_text("", "no.Such"), "names the message \"no.Such\""));
  v1::KindFields damaged = kind("davit.v1.Document");
  damaged.set_descriptor_set("no descriptors");
  EXPECT_FALSE(explain_kind(damaged, "").ok());
}

}  // namespace
}  // namespace davit::host
