// davit agent forget REGION AGENT
#include <cstdio>

#include <davit/v1/operator.pb.h>

#include "operator_client.hpp"
#include "output.hpp"
#include "table.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

// A working agent reports at least every 30 s.
constexpr int64_t at_work_ms = 90'000;

}  // namespace

int run_agent(Arguments arguments) {
  auto format = format_of(arguments);
  if (!format) return usage_error("agent", "-o must be table, json or yaml");
  const ServerAddress address = ServerAddress::from(arguments);
  if (auto bad = arguments.unknown()) return usage_error("agent", *bad);
  const std::vector<std::string> words = arguments.rest();
  if (words.empty() || words[0] != "forget") return usage_error("agent", "what? (forget)");
  if (words.size() != 3) return usage_error("agent", "which one? (REGION AGENT)");

  v1::ForgetAgentRequest request;
  request.set_region(words[1]);
  request.set_agent(words[2]);
  auto client = OperatorClient::open(address);
  if (!client.ok()) return not_usable("agent", client.error());
  v1::ForgetAgentResponse response;
  if (auto r = client->call("ForgetAgent", request, response); !r.ok())
    return failed("agent", r.error());
  if (*format != Format::table) {
    print(to_json(response), *format);
    return 0;
  }
  const int64_t now = unix_ms_now();
  const bool at_work = now - response.seen_at_unix_ms() < at_work_ms;
  std::printf("forgot agent %s of region %s, heard of %s ago%s\n", words[2].c_str(),
              words[1].c_str(), age(response.seen_at_unix_ms(), now).c_str(),
              at_work ? "; it may come back: it was at work" : "");
  return 0;
}

}  // namespace davit::host
