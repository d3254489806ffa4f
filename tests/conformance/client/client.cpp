// The client under test: reads cases from stdin until its end, tries them on the servers they name,
// and writes an outcome for each to stdout, in whatever order they end.
//
//   conformance_suite_client grpc|connect
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>

#include "remote.hpp"
#include "trial.hpp"

namespace davit::suite {

namespace {

constexpr size_t in_progress_max = 16;
constexpr size_t message_bytes_max = 64 << 20;

// Four bytes of length, the highest first, and the message.
std::optional<std::string> read_message() {
  std::array<unsigned char, 4> head{};
  if (!std::cin.read(reinterpret_cast<char*>(head.data()), head.size())) return std::nullopt;
  size_t size = 0;
  for (const unsigned char byte : head) size = size << 8 | byte;
  if (size > message_bytes_max) return std::nullopt;
  std::string message(size, '\0');
  if (!std::cin.read(message.data(), static_cast<std::streamsize>(size))) return std::nullopt;
  return message;
}

void write_message(const std::string& message) {
  std::string head;
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    head += static_cast<char>(message.size() >> shift & 0xff);
  std::cout << head << message << std::flush;
}

// The client's files: credentials are settings by name of a file.
class Files {
 public:
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "davit-suite-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Files() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  // The line "key = file".
  std::string setting(const std::string& key, const std::string& content) {
    const auto path = folder_ / std::to_string(++count_);
    std::ofstream(path, std::ios::binary) << content;
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    return key + " = \"" + path.string() + "\"\n";
  }

 private:
  std::filesystem::path folder_;
  size_t count_ = 0;
};

class Client {
 public:
  explicit Client(std::string transport) : transport_(std::move(transport)) {}
  ~Client() { wait_until_at_most(0); }

  void run(std::string_view message) {
    wait_until_at_most(in_progress_max - 1);
    auto owned = std::make_shared<const Case>(read_case(message));
    auto remote = remote_of(*owned);
    {
      const std::lock_guard lock(mutex_);
      if (!remote.ok()) return write_message(not_tried(*owned, remote.error().message));
      ++in_progress_;
    }
    Trial::begin((*remote)->channel(), (*remote)->strand(), *owned,
                 [this, owned](const Outcome& outcome) { ended(to_bytes(*owned, outcome)); });
  }

 private:
  // Cases of one server share a connection, as calls of a plugin do. With gRPC's library a case
  // that ends early has its own: the library resets a call on the wire whose beginning it has not
  // sent, for which Go's server gives up the connection and every other call on it.
  Result<Remote*> remote_of(const Case& c) {
    std::string key = c.host + ':' + std::to_string(c.port) + ' ' +
                      std::to_string(c.response_bytes_max) + c.server_certificate +
                      c.client_certificate;
    if (transport_ == "grpc" && c.ends_early()) key += c.name;
    auto& remote = remotes_[key];
    if (!remote) {
      auto opened = Remote::open(settings_of(c));
      if (!opened.ok()) return opened.error();
      remote = std::move(*opened);
    }
    return remote.get();
  }

  std::string settings_of(const Case& c) {
    const bool tls = !c.server_certificate.empty();
    std::string out = "url = \"" + std::string(tls ? "https" : "http") + "://" + c.host + ':' +
                      std::to_string(c.port) + "\"\nregion = \"suite\"\n";
    out += files_.setting("token_file", "a-token-that-nobody-asks-for");
    if (tls) out += files_.setting("ca_file", c.server_certificate);
    if (!c.client_certificate.empty()) {
      out += files_.setting("certificate_file", c.client_certificate);
      out += files_.setting("key_file", c.client_key);
    }
    if (c.response_bytes_max > 0)
      out += "response_bytes_max = " + std::to_string(c.response_bytes_max) + "\n";
    if (transport_ != "grpc") out += "transport = \"" + transport_ + "\"\n";
    return out;
  }

  void ended(const std::string& response) {
    const std::lock_guard lock(mutex_);
    write_message(response);
    --in_progress_;
    fewer_.notify_all();
  }
  void wait_until_at_most(size_t count) {
    std::unique_lock lock(mutex_);
    fewer_.wait(lock, [&] { return in_progress_ <= count; });
  }

  const std::string transport_;
  Files files_;
  std::mutex mutex_;
  std::condition_variable fewer_;
  size_t in_progress_ = 0;
  std::map<std::string, std::unique_ptr<Remote>> remotes_;
};

}  // namespace

}  // namespace davit::suite

int main(int argc, char** argv) {
  const std::string transport = argc == 2 ? argv[1] : "";
  if (transport != "grpc" && transport != "connect") {
    std::cerr << "usage: conformance_suite_client grpc|connect\n";
    return 2;
  }
  davit::suite::Client client(transport);
  while (const auto message = davit::suite::read_message()) client.run(*message);
}
