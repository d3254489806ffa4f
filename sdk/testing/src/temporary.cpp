#include "davit/testing/temporary.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace davit::testing {

TemporaryDirectory::TemporaryDirectory() {
  const char* base = std::getenv("TMPDIR");
  path_ = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/davit-test-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr)
    throw std::runtime_error("cannot make the directory " + path_);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace davit::testing
