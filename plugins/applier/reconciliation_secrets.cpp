// Resolves what a Secret is to contain, just before it is applied, by the secrets instance of the
// settings. The values go into the body of the request and are wiped with it. Nothing of them is
// kept: what the API server answers, and what the watches show, is the Secret's metadata.
#include <davit/base64.hpp>
#include <davit/wiped.hpp>

#include "reconciliation.hpp"

namespace davit::applier {
namespace {

// A store that says that its values have ended already is not asked more often.
constexpr std::chrono::milliseconds shortest_validity{1'000};

// Whether the item is to blame: no other try resolves it as it is. Whatever else is wrong can be
// mended in the store of secrets or in its settings.
bool for_ever(Code code) {
  return code == Code::invalid_argument || code == Code::unimplemented ||
         code == Code::out_of_range;
}

}  // namespace

void Reconciliation::resolve(const Step& step, uint64_t rendered) {
  if (!context_->secrets) {
    return park_on(step.name, step.name.text() +
                                  ": its values cannot be resolved, because the applier's setting "
                                  "`secrets` names no instance");
  }
  std::vector<secrets::Item> items;
  for (const SecretValue& value : step.secrets) items.push_back(value.item);
  const Operation call =
      context_->resolving.begin((context_->host.now() + context_->rules.request_timeout).count());
  context_->secrets->resolve(
      items,
      [self = shared_from_this(), call, rendered](secrets::Results results) {
        const auto kept = std::make_shared<const secrets::Results>(std::move(results));
        self->context_->host.blocking(self->task_.kind->instance(), [self, kept, rendered] {
          self->resolved(self->plan_.steps[self->step_], rendered, *kept);
        });
      },
      call);
}

void Reconciliation::resolved(const Step& step, uint64_t rendered,
                              const secrets::Results& results) {
  size_t failed = results.size();
  for (size_t n = 0; n < results.size(); ++n) {
    if (results[n].ok()) continue;
    if (failed == results.size() || for_ever(results[n].error().code)) failed = n;
    if (for_ever(results[n].error().code)) break;
  }
  if (failed < results.size()) return unresolved(step, failed, results[failed].error());
  Wiped body(apply_body(step, rendered));
  body.shorten(body.size() - 1);  // its last "}"
  body.append(",\"data\":{");
  for (size_t n = 0; n < results.size(); ++n) {
    body.append(n == 0 ? "\"" : ",\"");
    body.append(step.secrets[n].key);  // letters that need no escapes
    body.append("\":\"");
    append_base64(body, results[n]->secret.view());
    body.append("\"");
    note_validity(results[n]->valid_until_unix_ms);
  }
  body.append("}}");
  request_apply(step, rendered, body.view());
}

// The earliest of all values counts.
void Reconciliation::note_validity(int64_t until_unix_ms) {
  if (until_unix_ms == 0) return;
  int64_t& until = current_.valid_until_unix_ms;
  until = until == 0 ? until_unix_ms : std::min(until, until_unix_ms);
  look_again_in(
      std::max(shortest_validity, std::chrono::milliseconds(until - context_->host.unix_ms())));
}

void Reconciliation::unresolved(const Step& step, size_t index, const Error& why) {
  std::string text = step.name.text() + ": the value of " + step.secrets[index].key + ": ";
  if (!why.where.empty()) text += why.where + ": ";
  text += why.message;
  if (for_ever(why.code)) return park_on(step.name, std::move(text));
  delay(std::move(text), why.retry_after);
}

}  // namespace davit::applier
