// The plugin: an instance of it, and its steps.
#include "batch.hpp"
#include "settings.hpp"

namespace davit::secrets_file {
namespace {

class SecretsFile {
 public:
  using roles = Roles<secrets::Role>;
  static constexpr uint32_t max_concurrency = 2, pool_threads_min = 1, pool_threads_max = 32;

  explicit SecretsFile(Host host) : SecretsFile(host, FileSettings::read(host)) {}

  Result<> check(const Op&) { return look(false); }

  Result<> start(const Op&) {
    if (auto r = look(true); !r.ok()) return r;
    if (directory_.is_set() && !has_key_file_)
      host_.warn("without key_file only items that name a keyring are read from the directory");
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }

  void resolve(const Op& op, std::vector<secrets::Item> items, secrets::Done done) {
    std::make_shared<Batch>(shared_, op, std::move(items), std::move(done))->queue();
  }

  // What is open is answered with "shutting down", apart from the items that are worked on.
  Result<> stop(const Op& op) {
    shared_.stopping = true;
    return shared_.open.wait(host_, op);
  }

 private:
  SecretsFile(Host host, const FileSettings& settings)
      : host_(host),
        has_key_file_(!settings.key_file.empty()),
        keyrings_(host, settings.key_file, settings.keyrings_dir),
        directory_(settings.directory, sealed_text_bytes_max(settings.value_bytes_max)),
        shared_(host, Resolver(keyrings_, directory_, settings.value_bytes_max)) {
    if (sodium_init() < 0)
      throw Failure({Code::internal, "libsodium cannot be used: it finds no random numbers"});
  }

  // Whether keys and folders are there.
  Result<> look(bool tell) {
    if (auto r = keyrings_.read_all(tell); !r.ok()) return r;
    return directory_.is_set() ? directory_.check() : Result<>();
  }

  const Host host_;
  const bool has_key_file_;
  Keyrings keyrings_;
  const SealedDirectory directory_;
  Shared shared_;
};

}  // namespace
}  // namespace davit::secrets_file

DAVIT_PLUGIN(davit::secrets_file::SecretsFile, "secrets_file", DAVIT_PLUGIN_VERSION,
             "opens sealed values with key files on this machine")
