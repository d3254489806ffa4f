// The services as a plugin sees them: through the ABI's tables, with the SDK's wrapper.
#include "services/services.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <davit/settings.hpp>
#include <filesystem>
#include <fstream>
#include <future>

#include "config/config.hpp"
#include "runtime/pool.hpp"
#include "runtime/runtime.hpp"
#include "services/commit_queue.hpp"
#include "services/health.hpp"
#include "services/instance_host.hpp"
#include "services/log.hpp"
#include "services/metrics.hpp"
#include "services/shutdown.hpp"

namespace davit::host {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class NoNeighbours : public Neighbours {
 public:
  explicit NoNeighbours(Runtime& runtime) : runtime_(runtime) {}
  Result<davit_ref> find(std::string_view, std::string_view name, std::string_view) override {
    return Error{Code::not_found, "no plugin \"" + std::string(name) + "\""};
  }
  std::vector<davit_ref> each(std::string_view, std::string_view) override { return {}; }
  Pool* pool(std::string_view name) override {
    return name == "other" ? &runtime_.pool("other", 1) : nullptr;
  }

 private:
  Runtime& runtime_;
};

// Bits that no version of the contract has given away yet.
constexpr uint32_t unknown_critical = 0x80000000u, unknown_hint = 0x8000u;

class AsAPlugin : public testing::Test {
 protected:
  AsAPlugin() : log_([this](std::string_view line) { logged_ += line; }) {
    std::string pattern = (fs::temp_directory_path() / "davit-services-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    add_host_services(services_);
  }
  ~AsAPlugin() override { fs::remove_all(folder_); }

  // [plugin.x] with these lines, in a file of the test's folder.
  Host host(const std::string& lines) {
    config_ = std::make_unique<Config>(
        Config::parse("[plugin.x]\n" + lines, folder_ + "/a.toml", faults_));
    self_.name = "x";
    self_.abi.struct_size = sizeof self_.abi;
    self_.abi.instance = str(self_.name);
    self_.abi.query = [](const davit_host* h, davit_str id) {
      return instance(h).services->find(view(id));
    };
    self_.core = &core_;
    self_.services = &services_;
    self_.neighbours = &neighbours_;
    self_.commits = &commits_;
    self_.settings = config_->plugins(faults_).at(0);
    self_.faults = &faults_;
    self_.pool = &runtime_.pool("x", 1);
    self_.state_root = folder_ + "/state";
    return Host(&self_.abi);
  }
  void write(const std::string& name, const std::string& content) {
    fs::create_directories(fs::path(folder_ + "/" + name).parent_path());
    std::ofstream(folder_ + "/" + name) << content;
  }

  std::string folder_, logged_;
  Log log_;
  Metrics metrics_;
  Health health_;
  Runtime runtime_{2};
  Shutdown shutdown_;
  Core core_{log_, runtime_, metrics_, health_, shutdown_};
  Services services_;
  NoNeighbours neighbours_{runtime_};
  CommitQueues commits_;
  Faults faults_;
  std::unique_ptr<Config> config_;
  InstanceHost self_;
};

TEST_F(AsAPlugin, SettingsAreReadAndFaultsCollected) {
  const Host h = host(
      "path = \"a\"\nworkers = 99\nquiet = 1\n[plugin.x.inner]\nlabels = { a = \"1\", b = 2 }\n"
      "[[plugin.x.rule]]\nname = \"r\"\n");
  const Settings settings(h);
  EXPECT_EQ(settings.string("path"), "a");
  EXPECT_EQ(settings.string("mode", "fast"), "fast");
  EXPECT_TRUE(faults_.empty());
  settings.integer("workers", 4, 1, 16);
  EXPECT_FALSE(settings.boolean("quiet", false));
  const auto labels = settings.table("inner").table("labels").entries();
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(labels[0], std::pair(std::string("a"), std::string("1")));
  const auto rules = settings.tables("rule");
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].string("name"), "r");
  settings.string("token_file");
  EXPECT_EQ(faults_.lines(),
            (Lines{folder_ + "/a.toml:3: plugin.x.workers: must be between 1 and 16, not 99",
                   folder_ + "/a.toml:4: plugin.x.quiet: must be true or false",
                   folder_ + "/a.toml:6: plugin.x.inner.labels.b: must be a string",
                   folder_ + "/a.toml:1: plugin.x: key \"token_file\": is missing (a string)"}));
}

TEST_F(AsAPlugin, ARejectAfterCreateIsLogged) {
  const Host h = host("path = \"a\"\n");
  const Settings settings(h);
  self_.faults = nullptr;
  settings.reject("path", "is on a full disk");
  EXPECT_TRUE(faults_.empty());
  EXPECT_NE(logged_.find("setting refused too late key=plugin.x.path why=\"is on a full disk\""),
            std::string::npos);
}

TEST_F(AsAPlugin, CredentialsAreRelativeToTheFileThatNamesThem) {
  write("secrets/token", "s3cret\n");
  const Host h = host("token_file = \"secrets/token\"\n");
  const auto secret = h.credential("secrets/token");
  ASSERT_TRUE(secret.ok()) << secret.error().message;
  EXPECT_EQ(secret->view(), "s3cret");
  const auto missing = h.credential("secrets/other");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_EQ(missing.error().message, folder_ + "/secrets/other: No such file or directory");
  EXPECT_EQ(h.credential("").error().message, "must not be empty");
  EXPECT_EQ(logged_.find("s3cret"), std::string::npos);
}

TEST_F(AsAPlugin, ACriticalFlagThatTheHostDoesNotKnowIsRefused) {
  const Host h = host("file = \"secrets/token\"");
  write("secrets/token", "secret");
  std::string content;
  const auto read = [&](uint32_t flags) {
    content.clear();
    return checked([&](davit_error* e) {
      return h.service<davit_credentials>(DAVIT_CREDENTIALS)
          ->read(
              h.abi(), str("secrets/token"), flags, &content,
              [](void* ctx, davit_bytes b) { *static_cast<std::string*>(ctx) = view(b); }, e);
    });
  };
  EXPECT_TRUE(read(DAVIT_CREDENTIAL_SENSITIVE | unknown_hint).ok());
  EXPECT_EQ(content, "secret");
  const auto refused = read(unknown_critical);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::unimplemented);
  EXPECT_EQ(refused.error().where, "davit_credentials.read");
  EXPECT_EQ(content, "");
}

TEST_F(AsAPlugin, TheCommitQueueRefusesAFlagThatItWouldLose) {
  const Host h = host("");
  const auto* queue = h.service<davit_commit>(DAVIT_COMMIT);
  const Record record;
  RecordView v(record);
  const davit_mutation mutation{sizeof mutation, 0xdeadbeef, &v.abi, DAVIT_EXPECT_ANY, 0};
  const davit_mutation* mutations = &mutation;
  const davit_group group{sizeof group, 1, &mutations, str(""), 0};
  const Status status;
  StatusView s(status);
  const davit_status* statuses = &s.abi;
  const auto codes = [&](uint32_t flags) {
    v.abi.flags = s.abi.flags = flags;
    std::promise<int32_t> committed, reported;
    queue->commit(
        h.abi(), str("nobody"), Op().abi(), &group,
        [](void* ctx, const davit_group_result* r) {
          static_cast<std::promise<int32_t>*>(ctx)->set_value(r->error.code);
        },
        &committed);
    queue->report(
        h.abi(), str("nobody"), Op().abi(), &statuses, 1,
        [](void* ctx, int32_t code, const davit_error*) {
          static_cast<std::promise<int32_t>*>(ctx)->set_value(code);
        },
        &reported);
    return std::pair(committed.get_future().get(), reported.get_future().get());
  };
  EXPECT_EQ(codes(unknown_critical), std::pair(DAVIT_UNIMPLEMENTED, DAVIT_UNIMPLEMENTED));
  EXPECT_EQ(codes(unknown_hint), std::pair(DAVIT_NOT_FOUND, DAVIT_NOT_FOUND));
}

TEST_F(AsAPlugin, TheStateDirectoryIsItsOwnAndPrivate) {
  const Host h = host("");
  const auto named = h.state_directory(false);
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(*named, folder_ + "/state/x");
  EXPECT_FALSE(fs::exists(*named));
  ASSERT_TRUE(h.state_directory(true).ok());
  ASSERT_TRUE(h.state_directory(true).ok());
  struct stat status {};
  ASSERT_EQ(::stat(named->c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
}

TEST_F(AsAPlugin, AStateDirectoryThatCannotBeMadeSaysSo) {
  const Host h = host("");
  write("state", "a file is in the way");
  const auto made = h.state_directory(true);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message.substr(0, 17), "state directory " + folder_.substr(0, 1));
  EXPECT_NE(made.error().message.find(folder_ + "/state/x: "), std::string::npos);
}

TEST_F(AsAPlugin, LogMetricsAndHealthBearItsName) {
  const Host h = host("");
  h.info("hello", {{"k", "v"}});
  h.debug("too quiet");
  EXPECT_NE(logged_.find(" info  x         hello k=v\n"), std::string::npos) << logged_;
  EXPECT_EQ(logged_.find("too quiet"), std::string::npos);
  h.counter("davit_test_total", "what the test counted", {{"a", "b"}}).add(2);
  EXPECT_NE(metrics_.expose().find("davit_test_total{a=\"b\"} 2\n"), std::string::npos);
  h.health(DAVIT_HEALTH_DEGRADED, "tired");
  EXPECT_EQ(health_.worst().instance, "x");
  EXPECT_EQ(health_.worst().reason, "tired");
}

TEST_F(AsAPlugin, BlockingRunsOnThePoolThatIsNamed) {
  const Host h = host("");
  for (const auto& [pool, thread] :
       {std::pair("", "x"), std::pair("other", "other"), std::pair("ghost", "x")}) {
    std::promise<std::string> name;
    h.blocking(pool, [&] {
      char text[16] = {};
      ::pthread_getname_np(::pthread_self(), text, sizeof text);
      name.set_value(text);
    });
    EXPECT_EQ(name.get_future().get(), thread);
  }
  EXPECT_NE(logged_.find("no instance of this name to block on wanted=ghost"), std::string::npos);
}

TEST_F(AsAPlugin, StrandsAndTimersWorkThroughTheWrapper) {
  const Host h = host("");
  std::promise<std::string> done;
  const Strand strand = h.strand();
  auto timer = std::make_shared<Timer>(strand);
  strand.post([&, timer] {
    timer->after(std::chrono::hours(1), [&] { done.set_value("an hour"); });
    timer->after(std::chrono::milliseconds(1), [&, timer] { done.set_value("a millisecond"); });
  });
  EXPECT_EQ(done.get_future().get(), "a millisecond");
}

TEST_F(AsAPlugin, TheClockIsTheHostsAndRandomNumbersDiffer) {
  const Host h = host("");
  const auto before = std::chrono::steady_clock::now().time_since_epoch();
  EXPECT_GE(h.now(), before);
  EXPECT_GT(h.unix_ms(), 1'700'000'000'000);
  EXPECT_NE(h.random(), h.random());
}

TEST_F(AsAPlugin, ACommitToAStorageThatIsNotThereIsAnswered) {
  const Host h = host("");
  const auto* commit = h.service<davit_commit>(DAVIT_COMMIT);
  std::promise<std::string> answer;
  Group group;
  group.mutations.emplace_back();
  const GroupView v(group);
  commit->commit(
      h.abi(), str("ghost"), Op().abi(), &v.abi,
      [](void* ctx, const davit_group_result* r) {
        static_cast<std::promise<std::string>*>(ctx)->set_value(r->error.message);
      },
      &answer);
  EXPECT_EQ(answer.get_future().get(), "no storage \"ghost\"");
}

TEST_F(AsAPlugin, WhatIsNotOfferedIsNull) {
  EXPECT_EQ(host("").service<davit_log>("davit.log/2"), nullptr);
}

}  // namespace
}  // namespace davit::host
