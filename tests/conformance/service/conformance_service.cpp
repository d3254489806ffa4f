// The suite's ConformanceService as a plugin, for the server under test.
//
//   descriptor_set_file = "..."   the suite's messages (build.sh makes it)
//   request_bytes_max = 204800    the largest request; 0: the host's own limit
//
// Unimplemented is not served, as the suite wants it.
#include <fstream>
#include <iterator>

#include <davit/plugin.hpp>
#include <davit/rpc.hpp>

#include "exchange.hpp"

namespace davit::suite {

namespace {

constexpr Method methods[] = {{"Unary", false, false},
                              {"IdempotentUnary", false, false},
                              {"ServerStream", false, true},
                              {"ClientStream", true, false},
                              {"BidiStream", true, true}};

}  // namespace

class ConformanceService {
 public:
  using roles = Roles<>;

  explicit ConformanceService(Host host) : host_(host) {
    const Settings settings(host);
    file_ = settings.string("descriptor_set_file");
    request_bytes_max_ =
        static_cast<uint32_t>(settings.integer("request_bytes_max", 0, 0, 64 << 20));
  }

  Result<> wire() {
    std::ifstream in(file_, std::ios::binary);
    const std::string descriptors(std::istreambuf_iterator<char>(in), {});
    if (!in || descriptors.empty()) return Error{Code::not_found, file_ + ": cannot be read"};
    server_.emplace(host_);
    for (const Method& method : methods) {
      if (auto r = serve(method, descriptors); !r.ok()) return r;
    }
    return {};
  }
  Result<> start(const Op&) {
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }

 private:
  Result<> serve(const Method& method, const std::string& descriptors) {
    const std::string type = std::string(package).append(method.name);
    rpc::Method m;
    m.path = std::string(package).append("ConformanceService/").append(method.name);
    m.request_type = type + "Request";
    m.response_type = type + "Response";
    m.descriptor_set = bytes(descriptors);
    m.role = "agent";
    m.server_streams = method.server_streams;
    m.client_streams = method.client_streams;
    m.request_bytes_max = request_bytes_max_;
    return server_->serve(m, [this, &method](rpc::Call call) {
      const Strand strand = host_.strand();
      server_->accept(call, strand, std::make_unique<Exchange>(call, strand, method));
      call.read();
    });
  }

  Host host_;
  std::string file_;
  uint32_t request_bytes_max_ = 0;
  std::optional<rpc::Server> server_;
};

}  // namespace davit::suite

DAVIT_PLUGIN(davit::suite::ConformanceService, "conformance_service", DAVIT_PLUGIN_VERSION,
             "the Connect conformance suite's service, for tests")
