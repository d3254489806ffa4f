// A secrets instance that reads files: a secret is a file in one directory, such as a mounted
// Kubernetes Secret. It shows the role in its smallest honest form: batches, one result an item, no
// blocking on the caller's thread, and a stop that waits for what is open.
#include <algorithm>

#include <davit/outstanding.hpp>
#include <davit/secrets.hpp>

namespace {

using davit::Code;
using davit::Error;
using davit::Op;
using davit::Result;
using davit::secrets::Item;
using davit::secrets::Results;
using davit::secrets::Value;

class SecretsDirectory {
 public:
  using roles = davit::Roles<davit::secrets::Role>;
  static constexpr uint32_t max_concurrency = 4;

  explicit SecretsDirectory(davit::Host host)
      : host_(host), directory_(davit::Settings(host).string("directory")) {}

  void resolve(const Op& op, std::vector<Item> items, davit::secrets::Done done) {
    auto ticket = open_.begin();
    host_.blocking("", [this, op, items = std::move(items), done = std::move(done), ticket] {
      Results results;
      for (const Item& item : items) results.push_back(one(op, item));
      done(std::move(results));
    });
  }

  Result<> stop(const Op& op) { return open_.wait(host_, op); }

 private:
  Result<Value> one(const Op& op, const Item& item) const {
    if (op.cancelled()) return refused(Code::cancelled, "the caller has given up", item);
    if (op.deadline_ns() <= host_.now().count())
      return refused(Code::deadline_exceeded, "the deadline has passed", item);
    if (item.type != DAVIT_SECRET_READ)
      return refused(Code::unimplemented, "this instance only reads files", item);
    if (!is_file_name(item.ref))
      return refused(Code::invalid_argument, "must be the name of a file, without \"/\"", item);
    if (!item.field.empty() || !item.version.empty())
      return refused(Code::not_found, "a file has no fields and no versions", item);
    auto content = host_.credential(directory_ + "/" + item.ref);
    if (!content.ok()) return refused(content.error().code, "the file cannot be read", item);
    return Value{std::move(*content), {}, 0};
  }

  static bool is_file_name(std::string_view ref) {
    return !ref.empty() && ref != "." && ref != ".." && ref.find('/') == ref.npos;
  }
  static Error refused(Code code, const char* why, const Item& item) {
    return {code, why, item.ref, {}};
  }

  davit::Host host_;
  std::string directory_;
  davit::Outstanding open_;
};

}  // namespace

DAVIT_PLUGIN(SecretsDirectory, "secrets_directory", DAVIT_PLUGIN_VERSION,
             "reads secrets from the files of a directory")
