// The texts of etc/*.toml, as the program carries them.
#pragma once

#include <span>
#include <string_view>

namespace davit::host {

struct ShippedFile {
  std::string_view name;  // "agent.toml"
  std::string_view text;
};

// In the order in which they count: what an earlier one says of a setting stays.
std::span<const ShippedFile> shipped_files();

// The text of the file; empty: there is none of this name.
std::string_view shipped_file(std::string_view name);

}  // namespace davit::host
