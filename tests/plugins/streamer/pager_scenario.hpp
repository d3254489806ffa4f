// Tells a Pager stories (davit/testing/scenario.hpp), which stand in the tests. `next` prints what
// is to be done; the other commands tell a result.
#pragma once

#include <sstream>

#include <gtest/gtest.h>

#include <davit/testing/scenario.hpp>

#include "pager.hpp"

namespace davit::streamer {

inline std::string show(Cursor c) {
  return to_string(c.incarnation) + ":" + to_string(c.version);
}

inline std::string show(const Pager::Todo& t) {
  switch (t.act) {
    case Pager::Act::read_head:
      return "head";
    case Pager::Act::read_page:
      return "page from " + show(t.cursor) +
             (!t.dead_after ? "" : ", dead after " + to_string(t.dead_after));
    case Pager::Act::ask_ring:
      return "ring from " + show(t.cursor);
    case Pager::Act::idle:
      return "idle";
    case Pager::Act::finish:
      return "finish";
    case Pager::Act::bookmark:
      break;
  }
  static const char* const marks[] = {"bookmark", "begin snapshot", "begin tail", "snapshot end"};
  std::string out = std::string(marks[static_cast<int>(t.mark)]) + " " + show(t.cursor);
  if (t.mark == Pager::Mark::snapshot_end) out += " live " + std::to_string(t.live_count);
  return out;
}

class Scenario {
 public:
  explicit Scenario(ProtocolTraits traits) : traits_(traits) {}

  // A story without its last line's end.
  void run(const std::string& text) {
    const std::string story = text + "\n";
    const std::string told =
        testing::retell(story, [this](const std::string& line) { return command(line); });
    EXPECT_EQ(testing::difference(story, told), "") << text;
  }

 private:
  static Cursor cursor(std::istringstream& in) {
    uint64_t incarnation = 0, version = 0;
    char colon = 0;
    in >> incarnation >> colon >> version;
    return {Incarnation(incarnation), Version(version)};
  }
  // "next", and after every result the begin bookmark when there is one.
  std::string command(const std::string& line) {
    std::istringstream in(line);
    std::string verb, word;
    in >> verb;
    std::string out;
    if (verb == "watch") {
      pager_.emplace(traits_, cursor(in));
    } else if (verb == "next") {
      return show(pager_->next()) + "\n";
    } else if (verb == "head") {  // head 1:20 [purge mark]
      Head head{cursor(in), 0, 0};
      if (uint64_t mark = 0; in >> mark) head.purged_through = Version(mark);
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
      ADD_FAILURE() << "no command " << line;
    }
    if (auto mark = pager_->opening()) out += show(*mark) + "\n";
    return out;
  }

  ProtocolTraits traits_;
  std::optional<Pager> pager_;
  Version begin_{};
};

}  // namespace davit::streamer
