// TlsFiles: the CA, the client certificate and its key, read from their files for each request. So
// a certificate that was renewed needs no restart. While a file cannot be read, such as in the
// middle of its replacement, what was read last stays in use, and the log says why, whenever
// that changes.
#pragma once

#include <memory>
#include <mutex>

#include <davit/host.hpp>

namespace davit::http {

// PEM. Empty: none, and for the CA the system's.
struct Tls {
  Secret ca, certificate, key;
};

class TlsFiles {
 public:
  // Names of files, or credential:NAME. Empty: none.
  struct Names {
    std::string ca_file, certificate_file, key_file;
  };
  TlsFiles(Host host, Names names);

  // The same object as long as no file changes. An error: a file was never readable; `where` is its
  // setting. Reads the files; any thread.
  Result<std::shared_ptr<const Tls>> current();
  // Whether the files can be read now.
  Result<> check() const;

 private:
  Result<Tls> read() const;

  const Host host_;
  const Names names_;
  std::mutex mutex_;
  std::shared_ptr<const Tls> last_;  // NULL: nothing was read yet
  std::string fault_;                // of the last read, as it was logged; empty: there was none
};

}  // namespace davit::http
