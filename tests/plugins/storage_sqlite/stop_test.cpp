// A call that outlasts the stop's deadline.
#include <future>

#include "davit/storage_copy.hpp"
#include "plugin_under_test.hpp"

namespace davit::storage_sqlite {
namespace {

// As the host does: it tells the stop's failure and touches nothing of the instance any more. The
// call goes on with a database that is still there.
TEST(Stop, NothingGoesAwayUnderACallThatIsUnderWay) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  Life life(path);
  ASSERT_EQ(commit(life.client, group("a")), "");
  std::promise<void> inside, leave;
  bool first = true;
  auto call = std::async(std::launch::async, [&] {
    return storage::Copies(life.instance.ref(DAVIT_STORAGE_COPY))
        .backup(directory.path() + "/copy", [&](uint64_t, uint64_t) {
          if (std::exchange(first, false)) {
            inside.set_value();
            leave.get_future().wait();
          }
          return true;
        });
  });
  inside.get_future().wait();
  const auto stopped = life.instance.stop(std::chrono::milliseconds(1));
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, Code::deadline_exceeded);
  leave.set_value();
  const auto copied = call.get();
  ASSERT_TRUE(copied.ok()) << copied.error().message;
  EXPECT_EQ(copied->head.version, Version(1));
  EXPECT_TRUE(life.instance.stop().ok());
  EXPECT_EQ(commit(life.client, group("c")), "the database is not open");
}

}  // namespace
}  // namespace davit::storage_sqlite
