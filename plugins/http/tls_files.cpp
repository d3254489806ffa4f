#include "tls_files.hpp"

namespace davit::http {
namespace {

bool same(const Tls& a, const Tls& b) {
  return a.ca.view() == b.ca.view() && a.certificate.view() == b.certificate.view() &&
         a.key.view() == b.key.view();
}

}  // namespace

TlsFiles::TlsFiles(Host host, Names names) : host_(host), names_(std::move(names)) {}

Result<Tls> TlsFiles::read() const {
  Tls out;
  struct File {
    const char* setting;
    const std::string& name;
    Secret& into;
  };
  for (const File& file : {File{"ca_file", names_.ca_file, out.ca},
                           File{"certificate_file", names_.certificate_file, out.certificate},
                           File{"key_file", names_.key_file, out.key}}) {
    if (file.name.empty()) continue;
    auto content = host_.credential(file.name);
    if (!content.ok()) {
      Error error = content.error();
      error.where = file.setting;
      return error;
    }
    // A file that is just being written is none, either.
    if (content->view().find("-----BEGIN ") == std::string_view::npos)
      return Error{Code::failed_precondition, "\"" + file.name + "\" has no PEM", file.setting};
    file.into = std::move(*content);
  }
  return out;
}

Result<> TlsFiles::check() const {
  auto read_now = read();
  if (!read_now.ok()) return read_now.error();
  return {};
}

Result<std::shared_ptr<const Tls>> TlsFiles::current() {
  auto now = read();
  const std::lock_guard lock(mutex_);
  if (!now.ok()) {
    if (last_ == nullptr) return now.error();
    if (std::exchange(fault_, now.error().message) != now.error().message)
      host_.warn("a TLS file cannot be read; what it had before stays in use",
                 {{"reason", fault_}});
    return last_;
  }
  if (!std::exchange(fault_, "").empty()) host_.info("the TLS files can be read again");
  if (last_ == nullptr || !same(*last_, *now)) last_ = std::make_shared<const Tls>(std::move(*now));
  return last_;
}

}  // namespace davit::http
