#include "offering.hpp"

#include <cstdlib>

#include <davit/offer.hpp>

#include "assembly/application.hpp"
#include "exit_codes.hpp"
#include "output.hpp"

namespace davit::host {
namespace {

Result<std::string> ask(Application& application, const std::string& instance,
                        std::string_view role) {
  const auto ref = application.offer(instance, role);
  const auto& offer = *static_cast<const Offer*>(ref->vtable);
  const Operation operation;
  auto done = checked([&](davit_error* e) { return offer.hold(ref->self, e); });
  if (done.ok()) done = application.start_only(instance, operation);
  if (!done.ok()) return done.error();
  StringSink text;
  done = checked(
      [&](davit_error* e) { return offer.answer(ref->self, operation.abi(), text.get(), e); },
      text);
  if (!done.ok()) return done.error();
  return text.take();
}

}  // namespace

int run_offered(const OfferedCommand& command, const std::vector<std::string>& files,
                const ShowAnswer& show) {
  Application application(files);
  const auto instances = application.prepare_offering(command.role);
  if (!instances) return exit_code_usage;
  if (instances->empty()) return failed(command.name, {Code::not_found, command.none});
  int code = exit_code_done;
  for (const std::string& instance : *instances) {
    const auto answer = ask(application, instance, command.role);
    const auto shown = answer.ok() ? show(*answer) : Result<int>(answer.error());
    const int ended = shown.ok() ? *shown : failed(command.name, shown.error().in(instance));
    if (ended != exit_code_done) code = ended;
  }
  if (auto stopped = application.stop_started(); !stopped.ok()) {
    failed(command.name, stopped.error());
    flush_output();
    std::_Exit(exit_code_late);  // parts of it may still run
  }
  return code;
}

}  // namespace davit::host
