// The sockets on which the service manager already listens for this process (socket activation,
// sd_listen_fds(3)). Whoever would bind an address asks here first. So connections wait while the
// process is replaced, and nobody is refused.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

class PassedSockets {
 public:
  PassedSockets() = default;  // none
  // What LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES pass to this process. Removes the variables and
  // lets no program that is run inherit the sockets. Only before there are threads.
  static PassedSockets from_environment();
  ~PassedSockets() { close(); }
  PassedSockets(PassedSockets&& other) noexcept : passed_(std::exchange(other.passed_, {})) {}
  PassedSockets& operator=(PassedSockets&& other) noexcept {
    close();
    passed_ = std::exchange(other.passed_, {});
    return *this;
  }

  // The sockets for the listener with this key ("rpc.server.main") and address ("0.0.0.0:7070",
  // "unix:/run/davit/operator.sock"): those that the service manager named after the key
  // (FileDescriptorName=). If there are none, those that listen at the address. They are
  // non-blocking, and the caller owns them. An error says what is wrong with a socket of that name.
  Result<std::vector<int>> take(std::string_view key, std::string_view address);
  // Closes the sockets that nobody took, and returns how each is called:
  // "0.0.0.0:7071 (davit-server.socket)".
  std::vector<std::string> close();

 private:
  struct Passed {
    int fd;
    std::string name, address;  // the address is empty if nothing can listen on this descriptor
  };
  std::vector<Passed> passed_;
};

// Where the socket listens: "0.0.0.0:7070", "[::1]:7070", "unix:/path". Empty: nowhere.
std::string address_of_listening(int fd);

}  // namespace davit::host
