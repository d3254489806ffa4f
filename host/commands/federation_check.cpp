#include "federation_check.hpp"

#include <algorithm>
#include <cstdio>

#include <davit/v1/federation.pb.h>
#include <davit/offer.hpp>

#include "exit_codes.hpp"
#include "offering.hpp"
#include "text_table.hpp"

namespace davit::host {
namespace {

Tone tone_of(const std::string& severity) {
  return severity == "fault" ? Tone::bad : severity == "warning" ? Tone::middling : Tone::plain;
}

void show(const v1::FederationReview& review) {
  TextTable findings({"FINDING", "OF", "TEXT"}, TextTable::Last::wrapped);
  for (const auto& f : review.findings()) {
    findings.row({{f.severity(), tone_of(f.severity())},
                  f.of().empty() ? review.instance() : harmless(f.of()),
                  harmless(f.text())});
  }
  TextTable changes({"WOULD", "RESOURCE", "OBJECTS", "SUCH AS"}, TextTable::Last::wrapped);
  for (const auto& c : review.changes()) {
    std::string names;
    for (const std::string& name : c.names()) names += (names.empty() ? "" : ", ") + name;
    if (c.objects() > static_cast<uint64_t>(c.names_size())) names += ", ...";
    const bool harms = c.write() != "create" && c.write() != "update" && c.write() != "status";
    changes.row({{harmless(c.write()), harms ? Tone::bad : Tone::plain},
                 c.resource(),
                 std::to_string(c.objects()),
                 harmless(names)});
  }
  const auto text = [](TextTable& table, const char* none) {
    return table.empty() ? std::string(none) : table.print(use_colour(), terminal_columns());
  };
  std::printf("%s\n%s", text(findings, "nothing is wrong\n").c_str(),
              text(changes, "nothing would be written\n").c_str());
}

}  // namespace

int check_federation(const std::vector<std::string>& files, Format format) {
  const OfferedCommand command{"federation check", RehearsalRole::id,
                               "these files name no federation"};
  return run_offered(command, files, [&](const std::string& answer) {
    v1::FederationReview found;
    if (!found.ParseFromString(answer))
      return Result<int>(Error{Code::internal, "its review cannot be decoded"});
    if (format == Format::table) {
      show(found);
    } else {
      print(to_json(found), format);
    }
    const auto& findings = found.findings();
    const bool faulty = std::any_of(findings.begin(), findings.end(),
                                    [](const auto& f) { return f.severity() == "fault"; });
    return Result<int>(faulty ? exit_code_failed : exit_code_done);
  });
}

}  // namespace davit::host
