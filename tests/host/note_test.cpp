#include "loader/note.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace davit::host {
namespace {

std::string fixture(const char* name) {
  std::ifstream in(std::string(FIXTURES "/") + name + ".so", std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string problem(std::string_view elf) {
  const auto note = read_note(elf);
  return note.ok() ? "" : note.error().message;
}

TEST(Note, SaysWhoAPluginIs) {
  const auto note = read_note(fixture("actor"));
  ASSERT_TRUE(note.ok()) << note.error().message;
  EXPECT_EQ(note->name, "actor");
  EXPECT_EQ(note->version, "0.0.1");
  EXPECT_EQ(note->abi_major, 1U);
  EXPECT_EQ(note->abi_minor, 0U);
  EXPECT_EQ(note->roles, std::vector<std::string>{"test.role/1"});
  EXPECT_EQ(note->needs, std::vector<std::string>{"rpc/1"});
}

TEST(Note, RefusesWhatIsNoSharedObject) {
  EXPECT_EQ(problem(""), "not a shared object (no ELF header)");
  EXPECT_EQ(problem("#!/bin/sh\nexit 0\n padding"), "not a shared object (no ELF header)");
  std::string elf = fixture("actor");
  elf[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(problem(elf), "not a 64-bit little-endian shared object");
  elf = fixture("actor");
  elf[offsetof(Elf64_Ehdr, e_type)] = ET_REL;
  EXPECT_EQ(problem(elf), "not a shared object");
}

TEST(Note, RefusesAnotherMachine) {
  std::string elf = fixture("actor");
  elf[offsetof(Elf64_Ehdr, e_machine)] = EM_S390;
  elf[offsetof(Elf64_Ehdr, e_machine) + 1] = 0;
  EXPECT_EQ(problem(elf).substr(0, 33), "built for s390, this host runs on");
}

TEST(Note, IsMissedWhenThereIsNone) {
  EXPECT_EQ(problem(fixture("no_note")),
            "not a davit plugin (no note .note.davit): build it with davit_add_plugin()");
}

TEST(Note, SurvivesEveryTruncation) {
  const std::string elf = fixture("actor");
  size_t readable = 0;
  for (size_t n = 0; n < elf.size(); n += n < 1024 ? 1 : 97)
    readable += problem(elf.substr(0, n)).empty() ? 1 : 0;
  EXPECT_EQ(readable, 0U);  // a cut file is never taken for a whole one
}

TEST(Note, SurvivesEveryFlippedByteOfItsHeaders) {
  std::string elf = fixture("actor");
  for (size_t i = 0; i < 1024; ++i) {
    for (int flip : {0xff, 0x80, 0x01}) {
      const char was = elf[i];
      elf[i] = static_cast<char>(was ^ flip);
      (void)problem(elf);
      elf[i] = was;
    }
  }
  EXPECT_EQ(problem(elf), "");
}

TEST(NoteText, IsLinesOfKeyAndValue) {
  const auto note =
      parse_note("abi=3.7\nfuture=whatever\nname=x\nroles=storage/1,kind/2\nneeds=rpc/1\n");
  ASSERT_TRUE(note.ok());
  EXPECT_EQ(note->abi_major, 3U);
  EXPECT_EQ(note->abi_minor, 7U);
  EXPECT_EQ(note->roles, (std::vector<std::string>{"storage/1", "kind/2"}));
  EXPECT_EQ(note->needs, std::vector<std::string>{"rpc/1"});
}

TEST(NoteText, MustSayAbiAndName) {
  EXPECT_EQ(parse_note("").error().message, "its note lacks \"abi\" or \"name\"");
  EXPECT_EQ(parse_note("abi=1.0\n").error().message, "its note lacks \"abi\" or \"name\"");
  EXPECT_EQ(parse_note("abi=1\nname=x").error().message,
            "its note says ABI \"1\", which is not MAJOR.MINOR");
  EXPECT_EQ(parse_note("abi=1.x\nname=x").error().message,
            "its note says ABI \"1.x\", which is not MAJOR.MINOR");
  EXPECT_EQ(parse_note("abi=99999999999.0\nname=x").error().message,
            "its note says ABI \"99999999999.0\", which is not MAJOR.MINOR");
}

// What is wrong with a plugin of these roles and needs. Empty: nothing.
std::string refusal(const std::string& roles, const std::string& needs) {
  const auto note =
      parse_note("abi=1.0\nname=x\nroles=" + roles + "\nneeds=" + needs + "\nfuture=1\n");
  const auto fits = check_note(*note);
  return fits.ok() ? "" : fits.error().message;
}

TEST(NoteText, IsOfAnAbiBefore1_0WithoutTheLineNeeds) {
  const std::string before = "abi=1.0\nname=x\nversion=1\nroles=\n";
  EXPECT_EQ(check_note(*parse_note(before)).error().message,
            "built for an ABI before 1.0 (its note has no line \"needs\"), this host speaks 1.1: "
            "build it again with the SDK of this host");
  EXPECT_TRUE(check_note(*parse_note(before + "needs=\n")).ok());
}

TEST(NoteText, NeedsAreWordsThatTheHostKnows) {
  EXPECT_EQ(refusal("", ""), "");
  EXPECT_EQ(refusal("", "rpc/1,codec/1"), "");
  EXPECT_EQ(refusal("", "rpc/1,rpc/2"),
            "needs \"rpc/2\", which this host does not know: install a newer davit");
}

TEST(NoteText, ARoleIsPlayedInOneMajorThatTheHostKnows) {
  EXPECT_EQ(refusal("storage/1,kind/1,acme.thing/9", ""), "");
  EXPECT_EQ(refusal("storage/1,storage/2", ""), "") << "it can do both";
  EXPECT_EQ(refusal("secrets/1", ""), "") << "other plugins may know it";
  EXPECT_EQ(refusal("records/1", ""), "");
  EXPECT_EQ(refusal("storage/2,storage/3", ""),
            "plays the role storage/2, storage/3, this host knows storage/1: install a davit and a "
            "plugin that go together");
  for (const char* role : {"storage", "storage/", "storage/x", "/1"})
    EXPECT_NE(refusal(role, "").find("is not NAME/MAJOR"), std::string::npos) << role;
}

TEST(NoteText, ARoleStandsForTheIdOfATable) {
  EXPECT_EQ(interface_of("storage/1"), DAVIT_STORAGE);
  EXPECT_EQ(interface_of("acme.thing/9"), "acme.thing/9");
}

}  // namespace
}  // namespace davit::host
