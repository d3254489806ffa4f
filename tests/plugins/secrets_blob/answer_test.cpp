#include "answer.hpp"

#include <gtest/gtest.h>

#include "krane/v1/secrets.pb.h"

namespace davit::secrets_blob {
namespace {

// As a protobuf library reads it.
std::map<std::string, std::string> read_back(const std::map<std::string, std::string>& values) {
  std::vector<Variable> variables;
  secrets::Results results;
  for (const auto& [name, value] : values) {
    variables.push_back({name, "c"});
    results.emplace_back(secrets::Value{Secret(value), {}, 0});
  }
  const Buffer bytes = encode_answer(variables, results);
  krane::v1::DecryptSecretsBlobResponse out;
  EXPECT_TRUE(out.ParseFromArray(bytes.view().data(), static_cast<int>(bytes.size())));
  return {out.env_vars().begin(), out.env_vars().end()};
}

TEST(Answer, IsWhatAProtobufLibraryReads) {
  const std::map<std::string, std::string> values = {{"A", "x"},
                                                     {"EMPTY", ""},
                                                     {"", "no name"},
                                                     {"LONG", std::string(300'000, 'l')},
                                                     {std::string(200, 'N'), "two bytes of length"},
                                                     {"\xc3\xa4", "\xc3\xb6"}};
  EXPECT_EQ(read_back(values), values);
}

TEST(Answer, WithoutVariablesIsEmpty) {
  EXPECT_EQ(encode_answer({}, {}).size(), 0u);
}

TEST(Answer, LivesAsLongAsSomebodyHoldsIt) {
  secrets::Results results;
  results.emplace_back(secrets::Value{Secret("hunter2"), {}, 0});
  Buffer first = encode_answer({{"A", "c"}}, results);
  const Buffer second = first;
  first = Buffer();
  EXPECT_NE(second.view().find("hunter2"), std::string_view::npos);
}

}  // namespace
}  // namespace davit::secrets_blob
