// What a configuration needs beyond the sandbox of the shipped units of systemd, as a drop-in for
// them. A plugin says what it needs in a file beside it, NAME.sandbox: no code of it is run.
#pragma once

#include <string>
#include <vector>

namespace davit::host {

class Config;
struct HostSettings;

// `directories`: where plugins are. The text is for a file in /etc/systemd/system/UNIT.d.
std::string sandbox_drop_in(const Config&, const HostSettings&,
                            const std::vector<std::string>& directories);

}  // namespace davit::host
