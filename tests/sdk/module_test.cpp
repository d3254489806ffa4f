// Reading a plugin's file, and the steps of an instance's life, with a plugin made for the purpose.
#include "davit/testing/module.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "davit/storage.hpp"

namespace davit::testing {
namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

TEST(Module, ReadsTheNoteWithoutLoading) {
  auto note = read_note(STORAGE_NAIVE_SO);
  ASSERT_TRUE(note.ok()) << note.error().message;
  EXPECT_EQ(note->name, "storage_naive");
  EXPECT_EQ(note->roles, (std::vector<std::string>{"storage/1", "storage_move/1"}));
  EXPECT_TRUE(note->needs.empty());
  EXPECT_EQ(note->abi, "1.0");
  EXPECT_EQ(*exported_symbols(STORAGE_NAIVE_SO), std::vector<std::string>{DAVIT_PLUGIN_ENTRY});
}

TEST(Module, RefusesWhatIsNoPlugin) {
  const TemporaryDirectory directory;
  const std::string text = directory.path() + "/text.so";
  std::ofstream(text) << std::string(500, 'x');
  struct Row {
    std::string path, message;
  };
  for (const Row& row : {Row{"/no/such.so", "cannot read /no/such.so"},
                         Row{text, text + " is not a 64-bit ELF file"},
                         Row{"/proc/self/exe", "/proc/self/exe has no note .note.davit"}}) {
    auto loaded = Loaded::open(row.path);
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().message, row.message);
  }
}

TEST(Module, ReadsNothingBeyondAFileThatWasCutOff) {
  const TemporaryDirectory directory;
  const std::string whole = content(STORAGE_NAIVE_SO), path = directory.path() + "/cut.so";
  for (size_t size = 0; size < whole.size(); size += whole.size() / 61) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    const auto note = read_note(path);  // the table of sections is at the end of the file
    EXPECT_TRUE(size * 2 > whole.size() || !note.ok()) << size;
    EXPECT_EQ(note.ok() ? note->name : "storage_naive", "storage_naive") << size;
    (void)exported_symbols(path).ok();  // AddressSanitizer judges
  }
}

// Says what happened to it.
class Witness {
 public:
  using roles = Roles<>;
  explicit Witness(Host host) {
    steps() = "create";
    if (Settings(host).boolean("fails", false)) throw Failure({Code::unavailable, "not today"});
  }
  ~Witness() { steps() += " destroy"; }
  Result<> wire() { return steps() += " wire", Result<>(); }
  Result<> check(const Op&) { return steps() += " check", Result<>(); }
  Result<> start(const Op& op) {
    steps() += op.deadline_ns() < INT64_MAX ? " start" : " start without a deadline";
    return {};
  }
  Result<> stop(const Op&) { return steps() += " stop", Result<>(); }
  static std::string& steps() {
    static std::string text;
    return text;
  }
};

const davit_plugin* witness() {
  return detail::Plugin<Witness>::entry("witness", "1", "a witness");
}

TEST(Instance, GoesThroughItsLifeInOrder) {
  TestHost host("x");
  {
    Instance instance(witness(), host);
    ASSERT_TRUE(instance.up().ok());
  }
  EXPECT_EQ(Witness::steps(), "create wire start stop destroy");
  {
    Instance instance(witness(), host);
    ASSERT_TRUE(instance.create().ok());
    ASSERT_TRUE(instance.wire().ok());
    ASSERT_TRUE(instance.check().ok());
  }
  EXPECT_EQ(Witness::steps(), "create wire check destroy");
}

TEST(Instance, IsNotMadeWhenItFailsOrItsConfigurationHasFaults) {
  TestHost failing("x", {{"fails", true}}), faulty("x", {{"fails", "yes"}, {"unknown", 1}});
  Instance one(witness(), failing), two(witness(), faulty);
  auto r = one.create();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().message, "not today");
  r = two.create();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().message,
            "test.toml:1: plugin.x.fails: must be true or false\n"
            "test.toml:2: plugin.x.unknown: unknown key");
  EXPECT_EQ(Witness::steps(), "create destroy");
}

TEST(Instance, IsFoundByItsNeighboursAndCommitsThroughTheHost) {
  auto loaded = Loaded::open(STORAGE_NAIVE_SO);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  TestHost storage_host("main", {}, TestHost::Time::manual), host(storage_host, "user");
  Instance storage(loaded->plugin(), storage_host);
  ASSERT_TRUE(storage.up().ok());
  EXPECT_FALSE(storage::Client::find(host, "absent").ok());
  EXPECT_FALSE(find(host, "main", DAVIT_KIND).ok());
  EXPECT_EQ(each(host, DAVIT_STORAGE).size(), 1u);
  auto client = storage::Client::find(host, "main");
  ASSERT_TRUE(client.ok()) << client.error().message;
  Record r;
  r.key = {"widget", "r1", "a"};
  r.name = "a";
  std::optional<GroupResult> result;
  client->commit({{{r}}, {}}, [&](GroupResult answer) { result = std::move(answer); });
  EXPECT_FALSE(result) << "it did not wait for its turn";
  host.run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->first_version, Version(1));
  std::optional<Version> head;
  client->run(
      host.host().strand(), [](const storage::Client& c) { return c.head()->head.version; },
      [&](Version version) { head = version; });
  host.run();
  EXPECT_EQ(head, Version(1));
}

}  // namespace
}  // namespace davit::testing
