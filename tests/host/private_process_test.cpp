#include "assembly/private_process.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdlib>

namespace davit::host {
namespace {

TEST(PrivateProcess, HasNoCoreDumpAndNobodyReadsItsMemory) {
  EXPECT_EXIT(
      {
        forbid_core_dumps();
        rlimit limit{};
        limit.rlim_cur = 1;
        const bool none = getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0;
        std::_Exit(none && prctl(PR_GET_DUMPABLE) == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EQ(prctl(PR_GET_DUMPABLE), 1) << "of this process, which was not told to";
}

}  // namespace
}  // namespace davit::host
