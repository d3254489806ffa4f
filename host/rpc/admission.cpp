#include "admission.hpp"

#include <davit/utf8.hpp>

#include "assembly/extension.hpp"
#include "services/log.hpp"

namespace davit::host {

Admission::Admission(const Core& core, const ServerSettings& settings,
                     const MethodRegistry& methods)
    : log_(core.log),
      settings_(settings),
      methods_(methods),
      tokens_(settings_.tokens,
              [this](const std::string& message) {
                log_.warn("rpc", "token file", {{"server", settings_.name}, {"what", message}});
              }),
      anybody_(std::make_shared<const Identity>("anybody", "", "", std::vector<std::string>())) {}

bool Admission::is_open(const Method* method) {
  return method != nullptr && method->gate == Gate::anybody;
}

bool Admission::answers_to_the_end(const Method* method) {
  return is_open(method) && !method->streams_answers();
}

Result<IdentityPtr> Admission::authenticate(const std::string_view* header) {
  return tokens_.authenticate(header);
}

Result<> Admission::admit(const Identity& who, const Method* method, std::string_view path) const {
  if (who.role().empty()) {
    return Error{
        Code::permission_denied,
        who.subject() + " may not use " + settings_.listen + " (see allow_users and allow_group)",
        {},
        {}};
  }
  if (method == nullptr || (method->gate == Gate::reflection && !settings_.reflection)) {
    constexpr size_t shown = 200;
    return Error{Code::unimplemented,
                 "method " + shortened(path, shown) + " is not served here",
                 {},
                 {}};
  }
  if (!method->role.empty() && method->role != who.role()) {
    return Error{Code::permission_denied,
                 who.subject() + " has role " + who.role() + "; " + std::string(method->service()) +
                     " needs " + method->role,
                 {},
                 {}};
  }
  return {};
}

Error Admission::bad_header() {
  return {Code::invalid_argument, "a header has characters that none may have", {}, {}};
}

End Admission::going_down() const {
  return {Code::unavailable,
          "the server is shutting down",
          {{"retry-after-ms", std::to_string(settings_.retry_after.count())}}};
}

Error Admission::too_many_calls() const {
  return {Code::resource_exhausted,
          "more than " + std::to_string(settings_.streams_max) + " calls at once on one connection",
          {},
          {}};
}

size_t Admission::calls_max() const {
  constexpr size_t room = 100;
  return 2 * static_cast<size_t>(settings_.streams_max) + room;
}

void Admission::log_refusal(const Error& e, std::string_view path, const std::string& peer) {
  const auto left_out = refusals_.log(e.message, std::chrono::steady_clock::now());
  if (!left_out) return;
  log_.warn("rpc", "call refused",
            {{"server", settings_.name},
             {"peer", peer},
             {"method", std::string(path)},
             {"reason", e.message},
             {"not_logged", std::to_string(*left_out)}});
}

}  // namespace davit::host
