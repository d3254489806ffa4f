// Today's davit.v1 beside each frozen copy of it, and mutants of today's: each break is found.
#include "compatible.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "davit_frozen_1_0_descriptors.h"
#include "davit_wire_descriptors.h"

namespace davit::proto {
namespace {

using namespace google::protobuf;
using Breaks = std::vector<std::string>;

FileDescriptorSet set_of(davit_bytes bytes) {
  FileDescriptorSet out;
  EXPECT_TRUE(out.ParseFromArray(bytes.ptr, static_cast<int>(bytes.len)));
  EXPECT_GT(out.file_size(), 1) << "the agent's messages and the operator's";
  return out;
}
FileDescriptorSet today() {
  return set_of(davit_wire_descriptors());
}

TEST(Compatible, TodaysMessagesWithThoseOfEachRelease) {
  EXPECT_EQ(breaks(set_of(davit_frozen_1_0_descriptors()), today()), Breaks{}) << "1.0";
}

// What must not be ignored can be said in every request, also in those that a later version adds.
TEST(Requests, SayWhatTheirServerMustNotIgnore) {
  DescriptorPool pool;
  const FileDescriptorSet files = today();
  std::vector<const FileDescriptor*> made;
  for (const auto& file : files.file()) made.push_back(pool.BuildFile(file));
  int requests = 0;
  for (const FileDescriptor* file : made) {
    ASSERT_NE(file, nullptr);
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        const Descriptor* request = file->service(s)->method(m)->input_type();
        const FieldDescriptor* words = request->FindFieldByName("required_features");
        ASSERT_NE(words, nullptr) << request->full_name();
        EXPECT_TRUE(words->is_repeated() && words->type() == FieldDescriptor::TYPE_STRING)
            << request->full_name();
        ++requests;
      }
    }
  }
  EXPECT_GE(requests, 16);
}

// --- mutants ----------------------------------------------------------------------------------

template <class All>
auto& named(All* all, const std::string& name) {
  for (auto& element : *all) {
    if (element.name() == name) return element;
  }
  throw std::out_of_range(name);
}
template <class All>
void remove(All* all, const std::string& name) {
  all->erase(std::find_if(all->begin(), all->end(),
                          [&](const auto& element) { return element.name() == name; }));
}
DescriptorProto& message(FileDescriptorSet& set, const std::string& name) {
  for (auto& file : *set.mutable_file()) {
    for (auto& found : *file.mutable_message_type()) {
      if (found.name() == name) return found;
    }
  }
  throw std::out_of_range(name);
}
FieldDescriptorProto& field(FileDescriptorSet& set, const std::string& of,
                            const std::string& name) {
  return named(message(set, of).mutable_field(), name);
}
MethodDescriptorProto& watch(FileDescriptorSet& set) {
  auto& file = named(set.mutable_file(), "davit/v1/agent.proto");
  return named(named(file.mutable_service(), "AgentService").mutable_method(), "Watch");
}
// What is found in a copy of today's messages that was changed so.
Breaks after(const std::function<void(FileDescriptorSet&)>& change) {
  FileDescriptorSet changed = today();
  change(changed);
  return breaks(today(), changed);
}

TEST(Compatible, AFieldThatIsAddedIsNoBreak) {
  EXPECT_EQ(after([](auto& set) {
              auto& added = *message(set, "Frame").add_field();
              added.set_name("later");
              added.set_number(99);
              added.set_type(FieldDescriptorProto::TYPE_STRING);
            }),
            Breaks{});
}

TEST(Compatible, AFieldThatIsRemovedLeavesItsNumberAndItsName) {
  const auto removed = [](auto& set) { remove(message(set, "Record").mutable_field(), "hold"); };
  EXPECT_EQ(after(removed), (Breaks{"davit.v1.Record.hold: is gone and its number is not reserved",
                                    "davit.v1.Record.hold: is gone and its name is not reserved"}));
  EXPECT_EQ(after([&](auto& set) {
              removed(set);
              message(set, "Record").add_reserved_name("hold");
              auto& range = *message(set, "Record").add_reserved_range();
              range.set_start(7);
              range.set_end(8);
            }),
            Breaks{});
}

TEST(Compatible, AnotherNumberIsAnotherField) {
  EXPECT_EQ(after([](auto& set) { field(set, "Status", "gone").set_number(99); }),
            (Breaks{"davit.v1.Status.gone: is gone and its number is not reserved",
                    "davit.v1.Status.gone: is gone and its name is not reserved"}));
}

TEST(Compatible, ANumberIsNotGivenToAnotherField) {
  EXPECT_EQ(after([](auto& set) { field(set, "Status", "gone").set_name("went"); }),
            Breaks{"davit.v1.Status.gone: is called went now"});
}

TEST(Compatible, TypesStay) {
  EXPECT_EQ(after([](auto& set) {
              field(set, "Cursor", "version").set_type(FieldDescriptorProto::TYPE_SINT64);
            }),
            Breaks{"davit.v1.Cursor.version: is TYPE_SINT64 now"});
  EXPECT_EQ(after([](auto& set) {
              field(set, "Frame", "bookmark").set_label(FieldDescriptorProto::LABEL_REPEATED);
            }),
            Breaks{"davit.v1.Frame.bookmark: is repeated .davit.v1.Bookmark now"});
  EXPECT_EQ(
      after([](auto& set) { field(set, "Frame", "bookmark").set_type_name(".davit.v1.Cursor"); }),
      Breaks{"davit.v1.Frame.bookmark: is .davit.v1.Cursor now"});
}

TEST(Compatible, AFieldStaysInItsOneof) {
  EXPECT_EQ(after([](auto& set) { field(set, "Record", "hold").clear_oneof_index(); }),
            Breaks{"davit.v1.Record.hold: is in another oneof now"});
}

TEST(Compatible, ValuesOfEnumsStay) {
  const auto type_of = [](auto& set) -> EnumDescriptorProto& {
    return named(message(set, "Bookmark").mutable_enum_type(), "Type");
  };
  EXPECT_EQ(after([&](auto& set) {
              named(type_of(set).mutable_value(), "TYPE_SNAPSHOT_END").set_name("TYPE_END");
            }),
            Breaks{"davit.v1.Bookmark.Type.TYPE_SNAPSHOT_END: is called TYPE_END now"});
  EXPECT_EQ(
      after([&](auto& set) { remove(type_of(set).mutable_value(), "TYPE_SNAPSHOT_END"); }),
      (Breaks{"davit.v1.Bookmark.Type.TYPE_SNAPSHOT_END: is gone and its number is not reserved",
              "davit.v1.Bookmark.Type.TYPE_SNAPSHOT_END: is gone and its name is not reserved"}));
}

TEST(Compatible, WhatIsReservedIsKeptForItsField) {
  EXPECT_EQ(after([](auto& set) {
              message(set, "Bookmark").clear_reserved_range();
              message(set, "Bookmark").clear_reserved_name();
            }),
            (Breaks{"davit.v1.Bookmark: number 5 is no longer reserved",
                    "davit.v1.Bookmark: number 6 is no longer reserved",
                    "davit.v1.Bookmark: name digest is no longer reserved",
                    "davit.v1.Bookmark: name digest_algorithm is no longer reserved"}));
  const auto given = [](const std::string& name) {
    return [name](auto& set) {
      auto& bookmark = message(set, "Bookmark");
      bookmark.mutable_reserved_range()->DeleteSubrange(0, 1);
      bookmark.mutable_reserved_name()->DeleteSubrange(0, 1);
      auto& added = *bookmark.add_field();
      added.set_name(name);
      added.set_number(5);
      added.set_type(FieldDescriptorProto::TYPE_BYTES);
    };
  };
  EXPECT_EQ(after(given("digest")), Breaks{}) << "that is what it was kept for";
  EXPECT_EQ(after(given("checksum")),
            (Breaks{"davit.v1.Bookmark: number 5 is no longer reserved",
                    "davit.v1.Bookmark: name digest is no longer reserved"}));
}

TEST(Compatible, MessagesServicesAndMethodsStay) {
  EXPECT_EQ(after([](auto& set) {
              remove(named(set.mutable_file(), "davit/v1/agent.proto").mutable_message_type(),
                     "Child");
            }),
            Breaks{"davit.v1.Child: is gone"});
  EXPECT_EQ(after([](auto& set) {
              named(set.mutable_file(), "davit/v1/operator.proto").clear_service();
            }),
            Breaks{"davit.v1.OperatorService: is gone"});
  EXPECT_EQ(after([](auto& set) { watch(set).set_name("Observe"); }),
            Breaks{"davit.v1.AgentService.Watch: is gone"});
  EXPECT_EQ(after([](auto& set) { watch(set).set_server_streaming(false); }),
            Breaks{"davit.v1.AgentService.Watch: streams in another way now"});
  EXPECT_EQ(after([](auto& set) { watch(set).set_input_type(".davit.v1.GetRequest"); }),
            Breaks{"davit.v1.AgentService.Watch: takes another message now"});
  EXPECT_EQ(after([](auto& set) { watch(set).set_output_type(".davit.v1.Record"); }),
            Breaks{"davit.v1.AgentService.Watch: answers another message now"});
}

}  // namespace
}  // namespace davit::proto
