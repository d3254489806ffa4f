// ServerCertificate holds the certificate and key that a server shows in TLS, and the authority of
// its callers' certificates. It reads the files again when they change, and takes them when all of
// them can be used together. Until then the previous ones stay, so certificate and key may be
// replaced one after the other. Any thread; a handshake never waits for a disk.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>

#include <davit/types.hpp>

#include "certificate.hpp"
#include "certificate_end.hpp"
#include "end.hpp"
#include "file_look.hpp"
#include "settings.hpp"

namespace davit::host {

struct Core;
class Log;

class ServerCertificate {
 public:
  ServerCertificate(const Core&, const ServerSettings&);

  // Reads the files at start. The error names the file.
  Result<> load();
  // Reads the files again if they have changed or could not be used. Logs why they cannot be used,
  // whenever that changes, once that new ones were read, and once that the certificate ends soon.
  // Call it once a second. May block.
  void look();

  struct Pem {
    std::string certificate, key, client_ca;
  };
  // What to show from now on, if it has changed since the last call.
  std::optional<Pem> take();
  // Whether an authority was removed since the last call.
  bool has_withdrawn();
  // How to end the calls that began before an authority was removed.
  static End withdrawn();

 private:
  using Looks = std::array<std::optional<FileLook>, 3>;
  Looks looks() const;
  Result<bool> read();  // true: the contents are new

  const ServerSettings settings_;
  Log& log_;
  std::mutex files_;      // held while files are read
  CertificateEnd end_;    // of the files in use
  Looks looks_;           // of the files read last, usable or not
  bool settled_ = false;  // no other contents can have the same looks
  std::string fault_;     // of the last read, as it was logged; empty: there was none
  std::mutex mutex_;
  Pem pem_;             // written only with files_ held as well
  bool fresh_ = false;  // not yet returned by `take`
  bool withdrawn_ = false;
};

}  // namespace davit::host
