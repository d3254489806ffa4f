// A server for callers that mean no good, and one that does.
#pragma once

#include <atomic>
#include <fstream>

#include "raw.hpp"

namespace davit::host {

struct Limited : Rig {
  std::atomic<int> open{0}, dones{0};
  // A stream that says hello and stays until it is cancelled.
  class Stay : public davit::rpc::Handler {
   public:
    Stay(davit::rpc::Call c, Limited& l) : call_(c), limited_(l) { ++limited_.open; }
    void on_message(Buffer) override { call_.write(std::string("hello")); }
    void on_cancel() override { call_.finish({Code::cancelled, "gone"}); }
    void on_done(const davit::rpc::End&) override {
      --limited_.open;
      ++limited_.dones;
    }

   private:
    davit::rpc::Call call_;
    Limited& limited_;
  };
  Limited() {
    serve_echo("t.v1.S/Echo");
    davit::rpc::Method m;
    m.path = "t.v1.S/Stay";
    m.role = "agent";
    m.server_streams = true;
    const auto s = serving();
    const Host host = server.host();
    EXPECT_TRUE(s.serve(m, [this, s, host](davit::rpc::Call c) {
                   s.accept(c, host.strand(), std::make_unique<Stay>(c, *this));
                   c.read();
                 }).ok());
  }
  ~Limited() { server.stop(); }  // calls count in here until they end
  void serve_echo(const std::string& path, uint32_t request_bytes_max = 0) {
    serve_unary(
        path, "agent",
        [](davit::rpc::Call, Buffer b, davit::rpc::Server::Reply reply) {
          reply(std::string(b.view()));
        },
        request_bytes_max);
  }
  // A further token of an agent; its file is NAME.token.
  std::string token(const std::string& name) const {
    return "\n[[rpc.server.main.token]]\nname = \"" + name + "\"\nrole = \"agent\"\nregions = [\"" +
           name + "\"]\nfile = \"" + folder.path(name + ".token") + "\"";
  }
  void expect_well() {
    const Outcome end = call(client, channel, "t.v1.S/Echo", "still here");
    EXPECT_EQ(end.code, Code::ok) << end;
  }
};

// What this process holds; the sanitizers' own book-keeping is no measure.
inline size_t resident_bytes() {
  size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}
#ifdef DAVIT_SANITIZED
inline constexpr bool memory_can_be_measured = false;
#else
inline constexpr bool memory_can_be_measured = true;
#endif

// `more`: further fields of the head.
inline std::string begin_call(uint32_t stream, const std::string& path, const std::string& token,
                              const std::string& more = {}) {
  return Raw::frame(Raw::headers, Raw::end_headers, stream, Raw::call(path, token) + more);
}

inline std::string message(size_t size, size_t sent) {
  std::string out(5, '\0');
  for (int i = 0; i < 4; ++i) out[4 - i] = static_cast<char>(size >> (8 * i) & 0xff);
  return out + std::string(sent, 'x');
}

}  // namespace davit::host
