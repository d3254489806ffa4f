// The plugin: an instance of the service, its method, and the rights that it needs.
#include <davit/rights.hpp>

#include "davit_krane_descriptors.h"
#include "disclosure.hpp"
#include "rights.hpp"

namespace davit::secrets_blob {
namespace {

// The call's end of a Disclosure.
class Handler : public rpc::Handler {
 public:
  Handler(Service& service, const rpc::Call& call, Strand strand)
      : disclosure_(std::make_shared<Disclosure>(service, call, std::move(strand))) {}
  ~Handler() override { disclosure_->gone(); }

  void on_message(Buffer request) override { disclosure_->begin(std::move(request)); }
  void on_end_of_messages() override {
    disclosure_->finish({Code::unimplemented, "the request message is missing"});
  }
  void on_cancel() override { disclosure_->finish({Code::cancelled, "the caller has gone"}); }

 private:
  const std::shared_ptr<Disclosure> disclosure_;
};

class SecretsBlob {
 public:
  using roles = Roles<RightsRole>;

  explicit SecretsBlob(Host host) : service_(host, BlobSettings::read(host)) {}

  Result<> wire() {
    if (auto r = service_.wire(); !r.ok()) return r;
    const rpc::Server server(service_.host, service_.operations);
    const rpc::Method method{.path = "krane.v1.SecretsService/DecryptSecretsBlob",
                             .request_type = "krane.v1.DecryptSecretsBlobRequest",
                             .response_type = "krane.v1.DecryptSecretsBlobResponse",
                             .descriptor_set = davit_krane_descriptors(),
                             .role = "pod",
                             .request_bytes_max = service_.settings.request_bytes_max()};
    return server.serve(method, [this, server](const rpc::Call& call) {
      const Strand strand = service_.host.strand();
      server.accept(call, strand, std::make_unique<Handler>(service_, call, strand));
      call.read();
    });
  }

  std::string rights() const { return cluster_role(); }

  Result<> check(const Op& op) {
    const auto soon = service_.host.now() + service_.settings.timeout;
    return check_rights(service_.host, service_.cluster,
                        std::min(soon, std::chrono::nanoseconds(op.deadline_ns())));
  }

  Result<> start(const Op&) {
    if (service_.settings.audiences.empty())
      service_.host.info("tokens of the API server's own audience are accepted (audiences)");
    service_.host.health(DAVIT_HEALTH_SERVING);
    return {};
  }
  Result<> stop(const Op& op) {
    service_.operations.cancel();
    return service_.open.wait(service_.host, op);
  }

 private:
  Service service_;
};

}  // namespace
}  // namespace davit::secrets_blob

DAVIT_PLUGIN(davit::secrets_blob::SecretsBlob, "secrets_blob", DAVIT_PLUGIN_VERSION,
             "decrypts the secrets of pods that prove who they are")
