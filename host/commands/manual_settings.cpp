// davit.toml(5).
#include "manual.hpp"

namespace davit::host {
namespace {

constexpr const char* settings_intro = R"(.SH DESCRIPTION
.B davit run
reads one or several files in TOML.
.IP \(bu 2
Files are merged in the order of the command line. Tables are merged key by key, later values win,
and arrays are replaced.
.IP \(bu 2
A folder stands for its files *.toml, in the order of their names. Only files and folders that the
command line names are read.
.IP \(bu 2
A relative path is relative to the file that contains it. \(dqcredential:NAME\(dq is the file NAME
in the folder $CREDENTIALS_DIRECTORY of systemd. Secrets stand in files of their own.
.IP \(bu 2
A key that nobody reads is an error, with file and line.
.PP
.B davit check
says whether the files are right,
.B davit config dump
what they say together, and
.B davit config schema
prints a JSON Schema for editors.
.B davit plugin show
prints the settings of one plugin, also of one that is not described here.
)";

constexpr const char* settings_files = R"(.SH FILES
.I /etc/davit/server.toml
.br
.I /etc/davit/agent.toml
.br
.I /etc/davit/federation.toml
.br
.I /etc/davit/clusters.toml
.br
.I /etc/davit/postgres.toml
.RS
Each has every key that belongs to it.
.RE
.SH SEE ALSO
.BR davit (1),
.BR davit\-check (1),
.BR davit\-config (1),
.BR davit\-plugin (1),
.BR davit\-run (1)
)";

std::string setting_text(const Setting& setting) {
  std::string out = type_text(setting);
  if (setting.required) out += "; must be set";
  if (!setting.usual.empty()) out += "; default " + setting.usual;
  if (!setting.example.empty()) out += "; such as " + setting.example;
  out = roff(out) + ".";
  out.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(out.front())));
  return setting.about.empty() ? out : out + "\n.br\n" + roff(setting.about);
}

std::string setting_items(const Setting& table, const std::string& prefix) {
  std::string out;
  for (const Setting& part : table.parts) {
    const std::string name = prefix + part.name;
    out += manual_item("\\fB" + roff(name) + "\\fR", setting_text(part));
    out += setting_items(part, name + (part.type == Setting::Type::tables ? "[]." : "."));
  }
  return out;
}

std::string module_section(const ModuleSettings& module) {
  std::string out = ".SS module = \\(dq" + roff(module.module) + "\\(dq\n";
  std::string roles;
  for (const std::string& role : module.roles) roles += (roles.empty() ? "" : ", ") + role;
  if (!roles.empty()) out += "Roles: " + roff(roles) + ".\n";
  if (module.settings.parts.empty()) out += "It has no settings.\n";
  return out + setting_items(module.settings, "");
}

}  // namespace

std::string manual_of_settings(const KnownSettings& settings) {
  std::string out = manual_head("davit.toml", 5, "configuration of davit");
  out += settings_intro;
  out += ".SH THE HOST\nThe table [host].\n" + setting_items(settings.host, "");
  out +=
      ".SH LISTENERS\nEach table [rpc.server.NAME] is a listener. A name with [] is an array of "
      "tables.\n" +
      setting_items(settings.rpc_server, "");
  out +=
      ".SH PEERS\nEach table [rpc.client.NAME] is a control plane, or another peer that plugins "
      "call.\n" +
      setting_items(settings.rpc_client, "");
  out +=
      ".SH PLUGINS\nEach table [plugin.NAME] makes an instance called NAME of the plugin in its "
      "key\n"
      ".BR module .\nThe other keys are settings of that plugin.\n";
  for (const ModuleSettings& module : settings.modules) {
    if (module.problem.empty()) out += module_section(module);
  }
  return out + settings_files;
}

}  // namespace davit::host
