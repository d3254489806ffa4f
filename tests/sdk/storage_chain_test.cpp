#include "davit/storage_chain.hpp"

#include <gtest/gtest.h>

namespace davit::storage {
namespace {

// Incarnation 70 gave versions 1 to 9, 80 gave none, 90 gives from 10 on and stands at 12. Of
// statuses, 70 gave 1 to 3 and 80 gave 4.
Chain chain() {
  Chain c;
  c.append({70, 1, 1});
  c.append({80, 10, 4});
  c.append({90, 10, 5});
  return c;
}

TEST(StorageChain, AcceptsACursorUpToWhereItsIncarnationEnded) {
  struct Row {
    Cursor cursor;
    bool accepted;
  };
  for (const Row& row :
       {Row{{70, 1}, true}, Row{{70, 9}, true}, Row{{70, 10}, false}, Row{{80, 9}, true},
        Row{{80, 10}, false}, Row{{90, 3}, true}, Row{{90, 9}, true}, Row{{90, 12}, true},
        Row{{90, 13}, false}, Row{{60, 5}, false}, Row{{0, 5}, false}, Row{{60, 0}, true}}) {
    EXPECT_EQ(chain().accept(row.cursor, 12).ok(), row.accepted)
        << row.cursor.incarnation << "/" << row.cursor.version;
  }
}

TEST(StorageChain, StatusesEndWhereTheyEnded) {
  struct Row {
    Cursor cursor;
    bool accepted;
  };
  for (const Row& row : {Row{{70, 3}, true}, Row{{70, 4}, false}, Row{{80, 4}, true},
                         Row{{80, 5}, false}, Row{{90, 4}, true}, Row{{90, 7}, true},
                         Row{{90, 8}, false}, Row{{60, 1}, false}, Row{{60, 0}, true}}) {
    EXPECT_EQ(chain().accept_status(row.cursor, 7).ok(), row.accepted)
        << row.cursor.incarnation << "/" << row.cursor.version;
  }
}

TEST(StorageChain, SaysWhyACursorIsRefused) {
  EXPECT_EQ(chain().accept({70, 10}, 12).error().message,
            "cursor 10 is above 9, where its incarnation ends");
  EXPECT_EQ(chain().accept({60, 5}, 12).error().message,
            "cursor 5 is of another history of this database, or of one that is forgotten");
  EXPECT_EQ(chain().accept({60, 5}, 12).error().code, Code::out_of_range);
}

TEST(StorageChain, KeepsWhatIsExpectedUnlessAnIncarnationHasLostIt) {
  struct Row {
    Version version;
    Incarnation incarnation;
    bool kept;
  };
  for (const Row& row :
       {Row{9, 70, true}, Row{10, 70, false}, Row{12, 90, true}, Row{13, 90, false},
        Row{5, 60, false}, Row{13, 0, true}, Row{0, 60, true}, Row{any_version, 60, true}}) {
    EXPECT_EQ(chain().keeps_what_is_expected({{}, row.version, row.incarnation}, 12), row.kept)
        << row.incarnation << "/" << row.version;
  }
}

TEST(StorageChain, IncarnationsHaveAll64Bits) {
  constexpr Incarnation first = Incarnation::max(), second(uint64_t{1} << 63), other(INT64_MAX);
  Chain c;
  c.append({first, 1, 1});
  c.append({second, 10, 4});
  EXPECT_TRUE(c.accept({first, 9}, 12).ok());
  EXPECT_FALSE(c.accept({first, 10}, 12).ok());
  EXPECT_TRUE(c.accept({second, 12}, 12).ok());
  EXPECT_FALSE(c.accept({other, 5}, 12).ok());
}

TEST(StorageChain, ForgetsTheOldestWhenItIsTrimmed) {
  Chain c;
  for (uint64_t i = 1; i <= Chain::links_max + 2; ++i)
    c.append({Incarnation(i), Version(10 * i), Version(i)});
  const Version head(10 * (Chain::links_max + 3));
  EXPECT_TRUE(c.accept({2, 20}, head).ok());
  c.trim();
  EXPECT_EQ(c.history(head).size(), Chain::links_max);
  EXPECT_EQ(c.history(head).front(), (Cursor{3, 39}));
  for (const uint64_t gone : {1, 2}) {
    const Cursor records{Incarnation(gone), Version(10 * gone)};
    const Cursor statuses{Incarnation(gone), Version(gone)};
    EXPECT_EQ(c.accept(records, head).error().code, Code::out_of_range);
    EXPECT_EQ(c.accept_status(statuses, head).error().code, Code::out_of_range);
  }
  EXPECT_TRUE(c.accept({3, 39}, head).ok());
  EXPECT_FALSE(c.accept({3, 40}, head).ok());
  c.trim();
  EXPECT_EQ(c.history(head).size(), Chain::links_max);
}

TEST(StorageChain, ThePurgeMarkExemptsTheFirstPageAndWhoLeavesOutTheDead) {
  struct Row {
    Version cursor, dead_after, mark;
    bool accepted;
  };
  for (const Row& row : {Row{0, 0, 50, true}, Row{49, 0, 50, false}, Row{50, 0, 50, true},
                         Row{10, 49, 50, false}, Row{10, 50, 50, true}, Row{10, 0, 0, true}}) {
    EXPECT_EQ(above_purge_mark(row.cursor, row.dead_after, row.mark).ok(), row.accepted)
        << row.cursor << " " << row.dead_after;
  }
  EXPECT_EQ(above_purge_mark(49, 0, 50).error().message, "cursor 49 is below the purge mark 50");
}

}  // namespace
}  // namespace davit::storage
