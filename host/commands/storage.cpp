// davit storage maintain [--dry-run] [--retention 7d]
#include <cstdio>

#include <davit/v1/operator.pb.h>

#include "duration.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "table.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

// Rounds until the server has looked at everything; the answer of the last one, with the sum.
Result<v1::MaintainResponse> maintain(OperatorClient& client, v1::MaintainRequest request) {
  v1::MaintainResponse last;
  uint64_t tombstones = 0;
  do {
    if (auto r = client.call("Maintain", request, last); !r.ok()) return r.error();
    tombstones += last.tombstones();
    request.set_resume_token(last.resume_token());
  } while (!last.resume_token().empty());
  last.set_tombstones(tombstones);
  return last;
}

std::string count(uint64_t n) {
  return std::to_string(n) + (n == 1 ? " tombstone" : " tombstones");
}

std::string forgotten(const v1::MaintainResponse& r, bool dry_run) {
  const auto n = r.agents_forgotten();
  if (n == 0) return {};
  return (dry_run ? "would forget " : "forgot ") + std::to_string(n) +
         (n == 1 ? " agent, which is" : " agents, which are") +
         " long silent with another in its place\n";
}

std::string summary(const v1::MaintainResponse& r, bool dry_run) {
  std::string out = forgotten(r, dry_run);
  if (r.tombstones() == 0) {
    out += "nothing to purge";
  } else {
    out += (dry_run ? "would purge " : "purged ") + count(r.tombstones());
  }
  out += "; the purge mark " + std::string(dry_run && r.tombstones() > 0 ? "would be " : "is ") +
         std::to_string(r.purged_through());
  if (r.held_by().empty()) return out + "; no tombstone is left";
  out += "\nkept from version " + std::to_string(r.held_version()) + " on, deleted " +
         age(r.held_committed_at_unix_ms(), unix_ms_now()) + " ago: ";
  if (r.held_by() != "agent") return out + "it is younger than the retention";
  return out + "agent \"" + r.agent() + "\" of region \"" + r.region() + "\" has not come past it";
}

}  // namespace

int run_storage(Arguments arguments) {
  v1::MaintainRequest request;
  request.set_dry_run(arguments.flag("--dry-run"));
  const auto retention = arguments.option("--retention");
  auto format = format_of(arguments);
  if (!format) return usage_error("storage", "-o must be table, json or yaml");
  const ServerAddress address = ServerAddress::from(arguments);
  if (auto bad = arguments.unknown()) return usage_error("storage", *bad);
  if (arguments.rest() != std::vector<std::string>{"maintain"})
    return usage_error("storage", "what? (maintain)");
  if (retention) {
    auto duration = parse_duration(*retention);
    if (!duration)
      return usage_error("storage",
                         "--retention must be like 7d or 12h, not \"" + *retention + "\"");
    request.set_retention_ms(static_cast<uint64_t>(duration->count()));
  }

  auto client = OperatorClient::open(address);
  if (!client.ok()) return failed("storage", client.error());
  auto answer = maintain(*client, request);
  if (!answer.ok()) return failed("storage", answer.error());
  if (*format != Format::table) {
    print(to_json(*answer), *format);
  } else {
    std::printf("%s\n", summary(*answer, request.dry_run()).c_str());
  }
  return 0;
}

}  // namespace davit::host
