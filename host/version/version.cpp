#include "version.hpp"

#include <davit/abi/core.h>

#include "davit_commit.h"

namespace davit::host {
namespace {

constexpr int oldest_minor = 0;  // of this major: every one since its first

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

std::string abi(int minor) {
  return std::to_string(DAVIT_ABI_MAJOR) + "." + std::to_string(minor);
}

}  // namespace

std::string version_text() {
  const std::string commit = DAVIT_COMMIT, date = DAVIT_DATE;
  std::string out = "davit " DAVIT_VERSION "\n";
  out += "commit: " + (commit.empty() ? "unknown" : commit) + "\n";
  if (!date.empty()) out += "date: " + date + "\n";
  out += "compiler: " + compiler() + "\n";
  out += "build: " DAVIT_BUILD "\n";
  out += "abi: " + abi(DAVIT_ABI_MINOR) + " (takes plugins of " + abi(oldest_minor) + " to " +
         abi(DAVIT_ABI_MINOR) + ")";
  return out;
}

}  // namespace davit::host
