#include "rig.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "config/config.hpp"
#include "config/faults.hpp"

namespace davit::host {

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "davit-rpc-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, std::string_view content) const {
  const std::string to = path(name), from = to + ".new";
  std::ofstream(from, std::ios::binary) << content;
  std::filesystem::rename(from, to);
  return to;
}

Side::Side(const std::string& name)
    : log([this](std::string_view line) {
        const std::lock_guard lock(mutex_);
        lines_.emplace_back(line);
      }),
      runtime(2),
      core{log, runtime, metrics, health, shutdown},
      rpc(core) {
  add_host_services(services_);
  services_.add([this](std::string_view id) { return rpc.service(id); });
  instance_.name = name;
  instance_.core = &core;
  instance_.services = &services_;
  instance_.abi = {
      sizeof(davit_host), 0, str(instance_.name),
      [](const davit_host* h, davit_str id) { return instance(h).services->find(view(id)); }};
}

Side::~Side() {
  stop();
}

void Side::configure(const std::string& toml) {
  Faults faults;
  const Config config = Config::parse(toml, "test.toml", faults);
  rpc.configure(config, faults);
  config.reject_unread(faults);
  for (const auto& line : faults.lines()) ADD_FAILURE() << line;
}

void Side::listen() {
  const auto wired = rpc.wired(false);
  ASSERT_TRUE(wired.ok()) << wired.error().message;
  const auto listening = rpc.listen();
  ASSERT_TRUE(listening.ok()) << listening.error().message;
}

davit::rpc::Channel Side::channel(const std::string& name) {
  auto c = davit::rpc::Channel::find(host(), name);
  if (!c.ok()) {
    ADD_FAILURE() << c.error().message;
    return {};
  }
  return *c;
}

std::vector<std::string> Side::lines() const {
  const std::lock_guard lock(mutex_);
  return lines_;
}

void Side::stop(std::chrono::milliseconds patience) {
  if (std::exchange(stopped_, true)) return;
  rpc.stop(std::chrono::steady_clock::now() + patience);
  runtime.shutdown(std::chrono::steady_clock::now() + std::chrono::seconds(5));
}

Rig::Rig() {
  folder.write("agent.token", "agent-secret\n");
  folder.write("operator.token", "operator-secret\n");
}

std::string transport_line() {
  const char* transport = std::getenv("DAVIT_TEST_TRANSPORT");
  return transport == nullptr ? "" : "\ntransport = \"" + std::string(transport) + "\"\n";
}

namespace {
// What tests serve as methods with one answer: a Connect call begins in another way.
std::set<std::string>& unary_paths() {
  static std::set<std::string> paths = {"grpc.health.v1.Health/Check"};
  return paths;
}
}  // namespace

void Rig::serve_unary(const std::string& path, const std::string& role,
                      std::function<void(davit::rpc::Call, Buffer, davit::rpc::Server::Reply)> work,
                      uint32_t request_bytes_max) {
  davit::rpc::Method m;
  m.path = path;
  m.role = role;
  m.request_bytes_max = request_bytes_max;
  unary_paths().insert(path);
  const auto r = serving().unary(m, std::move(work));
  ASSERT_TRUE(r.ok()) << r.error().message;
}

void Rig::start(const std::string& server_extra, const std::string& client_extra) {
  server.configure(
      "[rpc.server.main]\nlisten = \"127.0.0.1:0\"\n" + transport_line() + server_extra +
      "\n[[rpc.server.main.token]]\nname = \"edge\"\nrole = \"agent\"\nregions = "
      "[\"us-east-1\"]\nfile = \"" +
      folder.path("agent.token") +
      "\"\n[[rpc.server.main.token]]\nname = \"anna\"\nrole = \"operator\"\nfile = \"" +
      folder.path("operator.token") + "\"\n");
  server.listen();
  std::string lines = client_extra;
  if (lines.find("url =") == std::string::npos) lines += "\nurl = \"http://" + address() + "\"";
  if (lines.find("token_file =") == std::string::npos)
    lines += "\ntoken_file = \"" + folder.path("agent.token") + "\"";
  if (lines.find("unix:") == std::string::npos) lines += transport_line();
  client.configure("[rpc.client.control]\nregion = \"us-east-1\"\nagent = \"a1\"\n" + lines);
  channel = client.channel("control");
  const auto wired = client.try_wired();
  ASSERT_TRUE(wired.ok()) << wired.error().message;
}

std::unique_ptr<Side> Rig::another(const std::string& client_lines) {
  auto side = std::make_unique<Side>("other");
  side->configure("[rpc.client.control]\n" + transport_line() + client_lines);
  return side;
}

bool eventually(const std::function<bool()>& so) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(90);
  while (!so()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

Outcome call(Side& side, const davit::rpc::Channel& channel, const std::string& path,
             std::string request, const Pairs& metadata, int64_t deadline_ns) {
  class Collect : public davit::rpc::Handler {
   public:
    explicit Collect(std::promise<Outcome>& p) : promise_(p) {}
    davit::rpc::Call call;
    void on_message(Buffer m) override {
      outcome_.messages.emplace_back(m.view());
      call.read();
    }
    void on_done(const davit::rpc::End& end) override {
      outcome_.code = end.code;
      outcome_.message = end.message;
      outcome_.trailers = end.trailers;
      promise_.set_value(std::move(outcome_));
    }

   private:
    std::promise<Outcome>& promise_;
    Outcome outcome_;
  };
  std::promise<Outcome> promise;
  auto future = promise.get_future();
  const Strand strand = side.host().strand();
  strand.post([&, request = std::move(request)] {
    auto handler = std::make_unique<Collect>(promise);
    auto* h = handler.get();
    const uint32_t streaming = unary_paths().contains(path) ? 0 : DAVIT_RPC_SERVER_STREAMS;
    h->call = channel.start(path, strand, std::move(handler), metadata, deadline_ns, streaming);
    h->call.write(request);
    h->call.half_close();
    h->call.read();
  });
  if (future.wait_for(std::chrono::seconds(90)) != std::future_status::ready) {
    ADD_FAILURE() << path << " did not end";
    std::abort();  // what it would write to is about to go
  }
  return future.get();
}

std::ostream& operator<<(std::ostream& out, const Outcome& o) {
  return out << "code " << static_cast<int>(o.code) << " \"" << o.message << "\", "
             << o.messages.size() << " messages";
}

}  // namespace davit::host
