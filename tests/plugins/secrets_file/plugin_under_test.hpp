// The built plugin, instances of it with keys and sealed files of their own, and calls of them.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>

#include "davit/operation.hpp"
#include "davit/secrets.hpp"
#include "davit/testing/module.hpp"
#include "davit/testing/temporary.hpp"
#include "sealed.hpp"

namespace davit::secrets_file {

using secrets::Item;
using secrets::Results;

inline const davit_plugin* plugin() {
  static const auto loaded = testing::Loaded::open(SECRETS_FILE_SO);
  if (!loaded.ok()) ADD_FAILURE() << loaded.error().message;
  return loaded->plugin();
}

// libsodium is the test's, too: the plugin is not always loaded before it.
inline KeyPair new_pair() {
  EXPECT_GE(sodium_init(), 0);
  return KeyPair::generate();
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::string seal(const KeyPair& pair, const std::string& keyring, const std::string& value,
                        const std::string& ref = {}) {
  return Sealed::make(pair.open(), {keyring, ref}, value)->text();
}

inline void write_file(const std::string& path, std::string_view content, mode_t mode = 0600) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  // As editors and `mv` do: the file that is there is replaced, and not written over.
  const std::string beside = path + ".new";
  std::ofstream(beside, std::ios::binary) << content;
  ::chmod(beside.c_str(), mode);
  std::filesystem::rename(beside, path);
}

inline std::string key_lines(const KeyPair& pair) {
  return std::string(key_file_lines(pair, "2026-01-01T00:00:00Z").view());
}

// The answer to one call, which comes on another thread.
class Answer {
 public:
  void come(Results results) {
    const std::lock_guard lock(mutex_);
    results_ = std::move(results);
    came_ = true;
    told_.notify_all();
  }
  bool came() {
    const std::lock_guard lock(mutex_);
    return came_;
  }
  Results wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(told_.wait_for(lock, std::chrono::seconds(60), [&] { return came_; }));
    return std::move(results_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  Results results_;
  bool came_ = false;
};

// One life of an instance.
struct Life {
  testing::TestHost host;
  testing::Instance instance;
  Result<> up;
  secrets::Client client;

  explicit Life(const testing::Config& config)
      : host("vault", config), instance(plugin(), host), up(instance.up()) {
    if (up.ok()) client = secrets::Client(instance.ref(DAVIT_SECRETS));
  }
  std::shared_ptr<Answer> begin(const std::vector<Item>& items, const Op& op = Op()) const {
    auto answer = std::make_shared<Answer>();
    client.resolve(
        items, [answer](Results results) { answer->come(std::move(results)); }, op);
    return answer;
  }
  Results ask(const std::vector<Item>& items, const Op& op = Op()) const {
    return begin(items, op)->wait();
  }
  // The value, or "CODE message".
  std::string one(const Item& item) const {
    const Results results = ask({item});
    if (results.size() != 1) return "no result";
    if (results[0].ok()) return std::string(results[0]->secret.view());
    return std::to_string(static_cast<int>(results[0].error().code)) + " " +
           results[0].error().message;
  }
};

inline Item to_decrypt(const std::string& keyring, const std::string& ciphertext) {
  Item out;
  out.type = DAVIT_SECRET_DECRYPT;
  out.keyring = keyring;
  out.ciphertext = ciphertext;
  return out;
}
inline Item to_read(const std::string& ref, const std::string& field = {},
                    const std::string& version = {}) {
  Item out;
  out.type = DAVIT_SECRET_READ;
  out.ref = ref;
  out.field = field;
  out.version = version;
  return out;
}

// A folder with a key file, keyrings and sealed files.
class OnFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(key_file(), key_lines(pair_));
    std::filesystem::create_directories(folder_.path() + "/keyrings");
    std::filesystem::create_directories(folder_.path() + "/sealed");
  }
  std::string key_file() const { return folder_.path() + "/agent.key"; }
  std::string own_key_file(const std::string& keyring) const {
    return folder_.path() + "/keyrings/" + keyring + ".key";
  }
  std::string sealed_file(const std::string& ref) const {
    return folder_.path() + "/sealed/" + ref;
  }
  void put_sealed(const std::string& ref, const std::string& value) const {
    write_file(sealed_file(ref), seal(pair_, "", value, ref) + "\n", 0644);
  }
  testing::Config config() const {
    return {{"key_file", key_file()},
            {"keyrings_dir", folder_.path() + "/keyrings"},
            {"directory", folder_.path() + "/sealed"}};
  }
  testing::TemporaryDirectory folder_;
  KeyPair pair_ = new_pair();
};

}  // namespace davit::secrets_file
