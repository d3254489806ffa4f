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

// Valid UTF-8.
bool is_text(std::string_view bytes);

// As no_bug, and what an error says can be put into a message, where protobuf insists on text. Of
// an input that is no text itself nothing is claimed: the codec never gives one to a kind.
template <class T>
const Result<T>& sound(const Result<T>& r, std::string_view what, std::string_view input) {
  no_bug(r, what);
  require(r.ok() || !is_text(input) || (is_text(r.error().message) && is_text(r.error().where)),
          "an error of text is text", r.ok() ? "" : r.error().message + "\n" + r.error().where);
  return r;
}

}  // namespace davit::fuzz
