// Every file in pager/ is one story. `next` prints what is to be done; the other commands tell a
// result, and print the begin bookmark when there is one. `peer` says who asks; without it, a Davit
// agent does.
#include "pager.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <davit/testing/scenario.hpp>

namespace davit::streamer {
namespace {

ProtocolTraits ctrl() {
  ProtocolTraits m;
  m.begins = m.bookmarks = m.has_incarnation = false;
  m.names_all_deleted = true;
  return m;
}

std::string cursor_text(Cursor c) {
  return to_string(c.incarnation) + ":" + to_string(c.version);
}

std::string todo_text(const Pager::Todo& t) {
  switch (t.act) {
    case Pager::Act::read_head:
      return "head";
    case Pager::Act::read_page:
      return "page from " + cursor_text(t.cursor) +
             (t.dead_after == 0 ? "" : ", dead after " + to_string(t.dead_after));
    case Pager::Act::ask_ring:
      return "ring from " + cursor_text(t.cursor);
    case Pager::Act::idle:
      return "idle";
    case Pager::Act::finish:
      return "finish";
    case Pager::Act::bookmark:
      break;
  }
  static const char* const marks[] = {"bookmark", "begin snapshot", "begin tail", "snapshot end"};
  std::string out = std::string(marks[static_cast<int>(t.mark)]) + " " + cursor_text(t.cursor);
  if (t.mark == Pager::Mark::snapshot_end) out += " live " + std::to_string(t.live_count);
  return out;
}

class PagerCommands {
 public:
  std::string run(const std::string& line) {
    std::istringstream in(line);
    std::string verb, word;
    in >> verb;
    std::string out;
    if (verb == "peer") {  // peer ctrl.v1 [closes]
      traits_ = ctrl();
      traits_.close_when_drained = in >> word && in >> word && word == "closes";
      return "";
    }
    if (verb == "watch") {
      pager_.emplace(traits_, cursor(in));
    } else if (verb == "next") {
      return todo_text(pager_->next()) + "\n";
    } else if (verb == "head") {  // head 1:20 [purge mark]
      Head head{cursor(in), 0, 0};
      head.purged_through = number<Version>(in);
      begin_ = head.head.version;
      pager_->head(head);
    } else if (verb == "page") {  // page 1:20 [more] [ids...]: "+a@5" live, "-a@7" dead; head
                                  // defaults to the cursor
      Page page;
      page.head.head = cursor(in);
      page.next_version = page.head.head.version;
      size_t records = 0;
      auto names = std::make_shared<PageNames>(begin_);
      while (in >> word) {
        if (word == "more") {
          page.more = true;
          continue;
        }
        const size_t at = word.find('@');
        names->add(word.substr(1, at - 1), Version(std::stoull(word.substr(at + 1))),
                   word[0] == '+');
        ++records;
      }
      names->seal();
      auto r = pager_->page(page, records, names);
      if (!r.ok()) return "error " + std::to_string(static_cast<int>(r.error().code)) + "\n";
    } else if (verb == "tip") {
      pager_->ring_tip(cursor(in));
    } else if (verb == "frame") {  // frame 1:20 [last]
      const Cursor c = cursor(in);
      pager_->ring_frame(c, static_cast<bool>(in >> word));
    } else if (verb == "behind") {
      pager_->ring_behind();
    } else if (verb == "ahead") {
      pager_->ring_ahead();
    } else if (verb == "unready") {
      pager_->ring_unready();
    } else if (verb == "woken") {
      pager_->woken();
    } else if (verb == "tick") {
      pager_->tick();
      pager_->woken();
    } else {
      throw std::runtime_error("unknown command");
    }
    if (auto mark = pager_->opening()) out += todo_text(*mark) + "\n";
    return out;
  }

 private:
  // 0 if there is none.
  template <class N>
  static N number(std::istringstream& in) {
    uint64_t n = 0;
    in >> n;
    return N(n);
  }
  static Cursor cursor(std::istringstream& in) {
    const auto incarnation = number<Incarnation>(in);
    in.ignore();  // the colon
    return {incarnation, number<Version>(in)};
  }
  ProtocolTraits traits_;
  std::optional<Pager> pager_;
  Version begin_{};
};

class PagerStory : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(PagerStory, GoesAsTold) {
  PagerCommands pager;
  EXPECT_EQ(testing::play(GetParam(), [&](const std::string& line) { return pager.run(line); }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Files, PagerStory,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/pager")),
                         testing::StoryName());

// They keep their cursor whatever they are told.
TEST(Pager, APeerWithoutIncarnationsThatKnowsBookmarksIsToldThatItsCursorIsVoid) {
  ProtocolTraits traits = ctrl();
  traits.bookmarks = true;
  for (const uint64_t asked : {0, 5, 6}) {
    Pager pager(traits, {0, Version(asked)});
    EXPECT_EQ(pager.next().act, Pager::Act::read_head);
    pager.head({{7, 20}, 0, 6});
    const auto opening = pager.opening();
    EXPECT_EQ(opening.has_value(), asked == 5) << "asked with " << asked;
    if (opening) {
      EXPECT_EQ(opening->cursor.version, Version(0));
    }
  }
}

}  // namespace
}  // namespace davit::streamer
