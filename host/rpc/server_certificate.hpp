// What a server shows in TLS, and whom it believes. Files are read again when they change, and
// taken only when all of it can be used together: certificate and key may be replaced one after the
// other, and what was read before stays until then. Any thread; a handshake never waits for a disk.
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

  // At start; the error names the file.
  Result<> load();
  // Reads what has changed; says once that files cannot be used, that they can again, and that the
  // end of the certificate is near. Once a second; it may block.
  void look();

  struct Pem {
    std::string certificate, key, client_ca;
  };
  // What to show from now on, if that has changed since the last time it was taken.
  std::optional<Pem> take();
  // Whether an authority that clients were believed by is not believed any more; once.
  bool has_withdrawn();
  // How the calls end that began before.
  static End withdrawn();

 private:
  using Looks = std::array<std::optional<FileLook>, 3>;
  Looks looks() const;
  Result<bool> read();  // whether there is something new

  const ServerSettings settings_;
  Log& log_;
  std::mutex files_;      // for as long as files are read
  CertificateEnd end_;    // of what was read last and is usable
  Looks looks_;           // of what was read last, usable or not
  bool settled_ = false;  // no other content can hide behind the same looks
  bool refused_ = false;  // the last that was read, and this was said
  std::mutex mutex_;
  Pem pem_;             // written only by who reads the files
  bool fresh_ = false;  // not taken yet
  bool withdrawn_ = false;
};

}  // namespace davit::host
