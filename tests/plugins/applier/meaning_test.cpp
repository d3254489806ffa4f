// What an answer of the API server means. The refusals are those of a real one (1.35).
#include "meaning.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {

cluster::Response answer_of(int32_t http, const char* reason, const char* message,
                            const char* causes = "[]") {
  cluster::Response r;
  r.code = http == 200 ? Code::ok : Code::unavailable;
  r.http_status = http;
  r.reason = reason;
  r.message = message;
  r.body = std::string(R"({"kind":"Status","details":{"causes":)") + causes + "}}";
  return r;
}

struct AnswerRow {
  int32_t http;
  const char* reason;
  const char* message;
  bool force;
  Meaning meaning;
};

TEST(Meaning, OfEveryAnswer) {
  const AnswerRow rows[] = {
      {200, "", "", true, Meaning::fine},
      {400, "BadRequest", "", true, Meaning::refused},
      {401, "Unauthorized", "", true, Meaning::retry},
      {403, "Forbidden", "pods \"x\" is forbidden: exceeded quota: q", true, Meaning::refused},
      {403, "Forbidden",
       "namespaces is forbidden: User \"davit\" cannot create resource \"namespaces\" in API "
       "group \"\" at the cluster scope",
       true, Meaning::no_right},
      {403, "Forbidden", "replicasets.apps \"x\" is forbidden: not yet ready to handle request",
       true, Meaning::no_right},
      {403, "Forbidden",
       "ciliumnetworkpolicies.cilium.io \"d\" is forbidden: create not allowed while custom "
       "resource definition is terminating",
       true, Meaning::retry},
      {403, "Forbidden", "\"while terminating\" is forbidden: ask the team that is terminating it",
       true, Meaning::refused},
      {404, "NotFound", "", true, Meaning::absent},
      {409, "AlreadyExists", "", true, Meaning::exists},
      {409, "AlreadyExists", "object is being deleted: x", true, Meaning::retry},
      {410, "Gone", "", true, Meaning::retry},
      {413, "RequestEntityTooLarge", "", true, Meaning::refused},
      {422, "Invalid", "spec.image: Required value", true, Meaning::refused},
      {429, "TooManyRequests", "", true, Meaning::retry},
      {500, "InternalError", "", true, Meaning::retry},
      {503, "ServiceUnavailable", "", true, Meaning::retry},
      {0, "", "connection refused", true, Meaning::retry},
  };
  for (const AnswerRow& row : rows) {
    EXPECT_EQ(meaning(answer_of(row.http, row.reason, row.message), row.force), row.meaning)
        << row.http << " " << row.message;
  }
}

// The message may hold any text; the causes are the API server's.
TEST(Meaning, AConflictIsAboutFieldsOrAboutTheStateOfTheObject) {
  const char* field = R"([{"reason":"FieldManagerConflict","field":".spec.replicas",
      "message":"conflict with \"kubectl\" using apps/v1"}])";
  const char* modified =
      "Operation cannot be fulfilled on replicasets.apps \"x\": the object has been modified; "
      "please apply your changes to the latest version and try again";
  const char* fields = "Apply failed with 1 conflict: conflict with \"kubectl\": .spec.replicas";
  for (const bool force : {true, false}) {
    EXPECT_EQ(meaning(answer_of(409, "Conflict", modified), force), Meaning::changed);
    EXPECT_EQ(meaning(answer_of(409, "Conflict", fields), force), Meaning::changed);
    EXPECT_EQ(meaning(answer_of(409, "Conflict", modified, field), force),
              force ? Meaning::retry : Meaning::refused);
  }
}

TEST(Meaning, ANamespaceThatIsGoingIsToldByItsCause) {
  const char* message =
      "replicasets.apps \"x\" is forbidden: unable to create new content in "
      "namespace going because it is being terminated";
  const char* cause = R"([{"reason":"NamespaceTerminating","field":"metadata.namespace",
      "message":"namespace going is being terminated"}])";
  EXPECT_EQ(meaning(answer_of(403, "Forbidden", message, cause), true), Meaning::retry);
}

struct CauseRow {
  const char* name;
  const char* causes;
  bool immutable, validation;
};

const CauseRow cause_rows[] = {
    {"SelectorOfAReplicaSet",
     R"([{"reason":"FieldValueInvalid","field":"spec.selector",
         "message":"Invalid value: {\"matchLabels\":{\"a\":\"c\"}}: field is immutable"}])",
     true, true},
    {"ClusterIpOfAService",
     R"([{"reason":"FieldValueInvalid","field":"spec.clusterIPs[0]",
         "message":"Invalid value: [\"None\"]: may not change once set"}])",
     true, true},
    {"SpecOfAStatefulSet",
     R"([{"reason":"FieldValueForbidden","field":"spec","message":
         "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden"}])",
     true, true},
    {"DataOfAnImmutableSecret",
     R"([{"reason":"FieldValueForbidden","field":"data",
         "message":"Forbidden: field is immutable when `immutable` is set"}])",
     true, true},
    {"PolicyThatNamesItself",
     R"([{"message":"ValidatingAdmissionPolicy 'a' denied request: field is immutable"}])", false,
     false},
    {"ValueThatHoldsTheWords",
     R"([{"reason":"FieldValueInvalid","field":"metadata.name",
         "message":"Invalid value: \": field is immutable\": must be lower case"}])",
     false, true},
    {"SomethingElseIsWrongAsWell",
     R"([{"reason":"FieldValueInvalid","field":"spec.selector",
         "message":"Invalid value: 7: field is immutable"},
         {"reason":"FieldValueRequired","field":"spec.x","message":"Required value"}])",
     false, true},
    {"None", "[]", false, false},
    {"Nonsense", R"([7, {"field": 3}, null])", false, false},
    {"NoList", "7", false, false},
};

TEST(Meaning, OfA422IsThatOfItsCauses) {
  for (const CauseRow& row : cause_rows) {
    const auto r = answer_of(422, "Invalid", "immutable: field is immutable", row.causes);
    EXPECT_EQ(meaning(r, true), row.immutable ? Meaning::immutable : Meaning::refused) << row.name;
    EXPECT_EQ(refused_by_validation(r), row.validation) << row.name;
  }
}

TEST(Meaning, ANameThatIsTakenSaysThatAllElseIsAccepted) {
  EXPECT_TRUE(would_be_accepted(answer_of(200, "", "")));
  EXPECT_TRUE(would_be_accepted(answer_of(409, "AlreadyExists", "\"x\" already exists")));
  EXPECT_FALSE(
      would_be_accepted(answer_of(409, "AlreadyExists", "object is being deleted: \"x\"")));
  EXPECT_FALSE(would_be_accepted(answer_of(409, "Conflict", "")));
  EXPECT_FALSE(would_be_accepted(answer_of(422, "Invalid", "")));
  EXPECT_FALSE(would_be_accepted(answer_of(403, "Forbidden", "exceeded quota")));
  EXPECT_FALSE(would_be_accepted(answer_of(0, "", "no answer")));
}

}  // namespace
}  // namespace davit::applier
