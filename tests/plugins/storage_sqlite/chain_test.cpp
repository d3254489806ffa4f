#include "chain.hpp"

#include <gtest/gtest.h>

namespace davit::storage_sqlite {
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

TEST(Chain, AcceptsACursorUpToWhereItsIncarnationEnded) {
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

TEST(Chain, StatusesEndWhereTheyEnded) {
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

TEST(Chain, SaysWhyACursorIsRefused) {
  EXPECT_EQ(chain().accept({70, 10}, 12).error().message,
            "cursor 10 is above 9, where its incarnation ends");
  EXPECT_EQ(chain().accept({60, 5}, 12).error().message,
            "cursor 5 is of another history of this database");
  EXPECT_EQ(chain().accept({60, 5}, 12).error().code, Code::out_of_range);
}

TEST(Chain, ThePurgeMarkExemptsTheFirstPageAndWhoLeavesOutTheDead) {
  struct Row {
    uint64_t cursor, dead_after, mark;
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
}  // namespace davit::storage_sqlite
