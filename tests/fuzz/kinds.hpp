// Every kind named in FUZZ_KINDS (paths joined by ":"), loaded as the host loads it, with the
// host's own codec.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <davit/kind.hpp>
#include <davit/testing/module.hpp>

#include "require.hpp"

namespace davit::host {
class Codec;
}

namespace davit::fuzz {

struct Kind {
  kind::Client client;
  Schema schema;
};

class Kinds {
 public:
  // A kind that does not load ends the run.
  explicit Kinds(std::string_view paths);
  ~Kinds();
  const std::vector<Kind>& all() const { return all_; }
  // Of the neighbours that a plugin's classes look for.
  Host host() const { return root_.host(); }

 private:
  void load(const std::string& path);

  std::unique_ptr<host::Codec> codec_;
  testing::TestHost root_;
  std::vector<std::unique_ptr<testing::TestHost>> hosts_;
  std::vector<std::unique_ptr<testing::Instance>> instances_;
  std::vector<Kind> all_;
};

}  // namespace davit::fuzz
