// One reader's place in one topic and the cluster that follows from what it was sent. Judges what
// can be judged from the wire alone (order, bookmarks, the count of a snapshot) and writes down
// every step, so that the audit can judge the rest when all writes are known. Pure.
#pragma once

#include "facts.hpp"

namespace davit::torture {

enum class Wire { davit_v1, ctrl_v1 };

// One record as it was sent.
struct Delivery {
  std::string name, id, content;  // a delete of ctrl.v1 has no id
  uint64_t version = 0;
  bool live = true;
};

class Line {
 public:
  explicit Line(Wire wire) : wire_(wire) {}

  // What to ask with; then a stream is opened.
  Cursor opened();
  // davit.v1: the first frame.
  void begins(bool snapshot, Cursor at);
  void delivered(uint64_t now, const Delivery& record);
  // Everything up to there was sent. In ctrl.v1 the first one also ends a snapshot, and one at 0,
  // before anything else of a stream, begins it.
  void bookmark(uint64_t now, Cursor at);
  void snapshot_end(uint64_t now, Cursor at, uint64_t live_count);
  // OUT_OF_RANGE. Only what was purged may be refused: nothing else ever takes a cursor's history
  // away here.
  void refused(const std::string& why);

  Cursor cursor() const { return cursor_; }
  bool in_snapshot() const { return snapshot_; }
  uint64_t snapshots() const { return snapshots_; }
  const Objects& objects() const { return objects_; }
  const Steps& steps() const { return steps_; }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  void fault(const std::string& what) { faults_.push_back(what); }
  void finish_snapshot(uint64_t now, Cursor at);
  void start_over();

  Wire wire_;
  Cursor cursor_;
  uint64_t sent_ = 0;  // highest version of this stream
  bool begun_ = false;
  bool snapshot_ = false;  // what comes is staged, and takes the cluster's place at its end
  Objects staged_;
  std::map<std::string, bool> named_;  // ids of the snapshot: was its last change a live one?
  uint64_t snapshots_ = 0;
  Objects objects_;
  Steps steps_;
  std::vector<std::string> faults_;
};

}  // namespace davit::torture
