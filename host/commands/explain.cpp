// davit explain [WORD | KIND[.FIELD]]
#include <cstdio>
#include <string>

#include <davit/v1/operator.pb.h>

#include "conditions.hpp"
#include "config/suggest.hpp"
#include "davit.hpp"
#include "exit_codes.hpp"
#include "explain_kind.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

void print_indented(std::string_view text, const std::string& indent) {
  constexpr size_t line_columns = 78;
  for (const std::string& line : wrapped(std::string(text), line_columns - indent.size()))
    std::printf("%s%s\n", indent.c_str(), line.c_str());
}

void explain(const Condition& c) {
  std::printf("%s\n", std::string(c.name).c_str());
  print_indented(c.means, "  ");
  std::puts("  What to do:");
  print_indented(c.to_do, "    ");
}

struct ExplainOptions {
  std::vector<std::string> words;
  ServerAddress server;
};

// Accepts a word as status shows it, also with text after it: "taken over", "unknown since
// 2026-...". NULL: status shows no such word.
const Condition* condition_of(const std::string& typed) {
  for (const Condition& c : conditions) {
    const std::string name(c.name);
    if (typed == name || typed.starts_with(name + " ")) return &c;
  }
  return nullptr;
}

std::string nearest_condition(const std::string& typed) {
  std::vector<std::string> names;
  for (const Condition& c : conditions) names.emplace_back(c.name);
  return nearest(typed, names);
}

void explain_all() {
  const char* separator = "";
  for (const Condition& c : conditions) {
    std::fputs(separator, stdout);
    separator = "\n";
    explain(c);
  }
}

// A kind of the running server, or one of its fields: "deployment.autoscaling". Kinds of third
// parties are explained by what their plugins know.
int explain_field(const std::string& typed, const ExplainOptions& options) {
  const size_t dot = typed.find('.');
  const std::string near = dot == std::string::npos ? nearest_condition(typed) : "";
  const std::string no_word = "status shows no \"" + typed + "\"";
  auto client = OperatorClient::open(options.server);
  if (!client.ok()) return not_usable("explain", client.error());
  v1::ListKindsRequest request;
  request.set_kind(typed.substr(0, dot));
  v1::ListKindsResponse response;
  auto asked = client->call("ListKinds", request, response);
  const bool word_meant = !near.empty() && !asked.ok();
  if (word_meant) throw UsageError(no_word + "; did you mean \"" + near + "\"?");
  if (!asked.ok() && asked.error().code == Code::unavailable) {
    Error error = asked.error();
    error.message =
        no_word + ", and which kinds there are only a running server knows: " + error.message;
    return failed("explain", error);
  }
  if (!asked.ok()) return failed("explain", asked.error());
  auto text =
      explain_kind(response.fields(), dot == std::string::npos ? "" : typed.substr(dot + 1));
  if (!text.ok()) return failed("explain", text.error());
  std::fputs(text->c_str(), stdout);
  return exit_code_done;
}

int explain(const ExplainOptions& options) {
  std::string typed;
  for (const std::string& word : options.words) typed += (typed.empty() ? "" : " ") + word;
  if (typed.empty()) {
    explain_all();
    return exit_code_done;
  }
  if (const Condition* c = condition_of(typed); c != nullptr) {
    explain(*c);
    return exit_code_done;
  }
  if (options.words.size() == 1) return explain_field(typed, options);
  const std::string near = nearest_condition(typed);
  throw UsageError("status shows no \"" + typed + "\"" +
                   (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
}

}  // namespace

CommandPtr explain_command() {
  auto options = std::make_shared<ExplainOptions>();
  auto command = std::make_shared<Command>(
      "explain", "[WORD | KIND[.FIELD]]",
      "explain a condition that status shows, or the fields of a kind's documents",
      [options] { return explain(*options); });
  std::string all;
  for (const Condition& c : conditions) all += (all.empty() ? "" : "|") + std::string(c.name);
  command
      ->words("WORD", options->words,
              "parked, held, orphaned, unknown, taken over, unhealthy, ...; all when absent. Or a "
              "kind of the server, and the path of a field: deployment.autoscaling.max_replicas")
      ->type_name(all);
  options->server.add_options(*command);
  command->examples({"davit explain parked", "davit explain deployment.autoscaling"});
  return command;
}

}  // namespace davit::host
