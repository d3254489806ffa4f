// The names that items have for sealed files: paths below a folder, as in "apps/web/database".
#pragma once

#include <string>
#include <string_view>

namespace davit::secrets_file {

// What is wrong with a ref. Empty: nothing. No part of it is empty or begins with ".".
std::string ref_fault(std::string_view ref);

}  // namespace davit::secrets_file
