#include "kinds.hpp"

#include "codec/codec.hpp"

namespace davit::fuzz {

Kinds::Kinds(std::string_view paths)
    : codec_(std::make_unique<host::Codec>()), root_("fuzz", {}, testing::TestHost::Time::manual) {
  root_.add_service(DAVIT_CODEC, codec_->table());
  while (!paths.empty()) {
    const size_t end = std::min(paths.find(':'), paths.size());
    load(std::string(paths.substr(0, end)));
    paths.remove_prefix(std::min(end + 1, paths.size()));
  }
  require(!all_.empty(), "there is a kind to work with");
}

Kinds::~Kinds() {
  while (!instances_.empty()) instances_.pop_back();
  while (!hosts_.empty()) hosts_.pop_back();
}

void Kinds::load(const std::string& path) {
  auto loaded = testing::Loaded::open(path);
  require(loaded.ok(), "the kind loads", loaded.ok() ? "" : loaded.error().message);
  auto& host = hosts_.emplace_back(std::make_unique<testing::TestHost>(root_, loaded->note().name));
  auto& instance =
      instances_.emplace_back(std::make_unique<testing::Instance>(loaded->plugin(), *host));
  const auto up = instance->up();
  require(up.ok(), "the kind comes up with its defaults", up.ok() ? "" : up.error().message);
  kind::Client client(instance->ref(DAVIT_KIND));
  auto schema = client.schema(host->host());
  require(schema.ok(), "the kind's descriptor set loads",
          schema.ok() ? "" : schema.error().message);
  all_.push_back({std::move(client), *schema});
}

}  // namespace davit::fuzz
