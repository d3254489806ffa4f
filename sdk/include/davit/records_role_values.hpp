// The values of the role records in C++. abi/records_role.h says what each field means. These types
// own their memory. from_abi() copies; to_abi() and the ...View classes borrow from the value.
#pragma once

#include "abi/records_role.h"
#include "flags.hpp"
#include "storage_reads.hpp"

namespace davit {

template <>
struct Flags<davit_document> {
  static constexpr const char* of = "davit_document";
  static constexpr uint32_t known = DAVIT_DOCUMENT_DELETE;
};
template <>
struct Flags<davit_apply> {
  static constexpr const char* of = "davit_apply";
  static constexpr uint32_t known = DAVIT_APPLY_DRY_RUN;
};
template <>
struct Flags<davit_records_read> {
  static constexpr const char* of = "davit_records_read";
  static constexpr uint32_t known = DAVIT_RECORDS_DELETED;
};

namespace records {

using davit::from_abi, davit::to_abi, davit::understood;

struct Document {
  Key key;  // the id may be empty
  std::string state{}, spec{};
  Pairs annotations{};
  Version expect = any_version;
  bool remove = false;  // the record is to be deleted
};
inline Document deletion(Key key, Version expect = any_version) {
  return {std::move(key), {}, {}, {}, expect, true};
}

struct Apply {
  std::vector<Document> documents;
  std::string request_id{};
  bool dry_run = false;
  std::string author{};  // empty: a Client fills it in
  uint64_t intent = 0;   // of the storage, that it carries out; 0: none
};

struct Applied {
  Key key;
  std::string outcome;  // created, changed, unchanged, deleted, absent
  Cursor at;
  std::optional<Error> error{};
};
using AppliedList = std::vector<Applied>;
using ApplyDone = std::function<void(AppliedList)>;

struct Read {
  std::string kind{}, region{};
  Cursor after{};
  uint32_t limit = 100;
  bool deleted = false;  // deleted records, too
};

struct Found {
  std::vector<Record> records;
  bool more = false;
  Cursor next{}, head{};
};
using Done = std::function<void(Result<Found>)>;

struct Event {
  int32_t type = DAVIT_RECORDS_EVENT_RECORD;  // DAVIT_RECORDS_EVENT_...
  std::optional<Record> record;               // of RECORD
  Cursor at;
};

// The callbacks of a watch. They are serialised, on any thread. `ended` gets the reason; nothing:
// the watch was cancelled.
struct Watcher {
  std::function<void(const Event&)> event;
  std::function<void(const std::optional<Error>&)> ended;
};

// --- crossing the boundary ---

// Of an apply and its documents.
inline Result<> all_understood(const davit_apply& a) {
  if (auto known = understood(a); !known.ok()) return known;
  return understood(a.documents, a.documents_count);
}
inline Apply from_abi(const davit_apply& a) {
  Apply out;
  for (size_t n = 0; n < a.documents_count; ++n) {
    const davit_document& d = *a.documents[n];
    out.documents.push_back({from_abi(d.key), text(d.state), text(d.spec),
                             from_abi(d.annotations, d.annotations_count), Version(d.expect),
                             (d.flags & DAVIT_DOCUMENT_DELETE) != 0});
  }
  out.request_id = text(a.request_id);
  out.dry_run = (a.flags & DAVIT_APPLY_DRY_RUN) != 0;
  out.author = text(a.author);
  out.intent = DAVIT_HAS(&a, intent) ? a.intent : 0;
  return out;
}
// An Apply in ABI form; borrows from it.
struct ApplyView {
  std::deque<std::vector<davit_pair>> annotations;
  std::deque<davit_document> documents;
  std::vector<const davit_document*> pointers;
  davit_apply abi{};

  explicit ApplyView(const Apply& a) {
    for (const Document& d : a.documents) {
      const auto& pairs = annotations.emplace_back(to_abi(d.annotations));
      pointers.push_back(&documents.emplace_back(davit_document{
          sizeof(davit_document), d.remove ? DAVIT_DOCUMENT_DELETE : 0, to_abi(d.key), str(d.state),
          str(d.spec), pairs.data(), pairs.size(), d.expect.value()}));
    }
    abi.struct_size = sizeof abi;
    abi.flags = a.dry_run ? DAVIT_APPLY_DRY_RUN : 0;
    abi.author = str(a.author);
    abi.request_id = str(a.request_id);
    abi.documents = pointers.data();
    abi.documents_count = pointers.size();
    abi.intent = a.intent;
  }
  ApplyView(const ApplyView&) = delete;
  ApplyView& operator=(const ApplyView&) = delete;
};

inline Applied from_abi(const davit_applied& a) {
  Applied out{from_abi(a.key), text(a.outcome), from_abi(a.at)};
  if (a.error != nullptr) out.error = take(*a.error, a.error->code);
  return out;
}
// Results in ABI form; borrows from them.
struct AppliedView {
  std::deque<davit_error> errors;
  std::deque<davit_applied> results;
  std::vector<const davit_applied*> pointers;

  explicit AppliedView(const AppliedList& list) {
    for (const Applied& a : list) {
      davit_applied& abi = results.emplace_back(davit_applied{
          sizeof(davit_applied), 0, nullptr, to_abi(a.key), str(a.outcome), to_abi(a.at)});
      if (a.error) {
        fill(&errors.emplace_back(), *a.error);
        abi.error = &errors.back();
      }
      pointers.push_back(&abi);
    }
  }
  AppliedView(const AppliedView&) = delete;
  AppliedView& operator=(const AppliedView&) = delete;
};

inline Read from_abi(const davit_records_read& q) {
  return {text(q.kind), text(q.region), from_abi(q.after), q.limit,
          (q.flags & DAVIT_RECORDS_DELETED) != 0};
}
inline davit_records_read to_abi(const Read& q) {
  return {sizeof(davit_records_read),
          q.deleted ? DAVIT_RECORDS_DELETED : 0,
          str(q.kind),
          str(q.region),
          to_abi(q.after),
          q.limit,
          0};
}

inline Result<Found> from_abi(const davit_records_page& p) {
  if (p.error != nullptr) return take(*p.error, p.error->code);
  Found out;
  for (size_t n = 0; n < p.records_count; ++n) out.records.push_back(from_abi(*p.records[n]));
  out.more = (p.flags & DAVIT_PAGE_MORE) != 0;
  out.next = from_abi(p.next);
  out.head = from_abi(p.head);
  return out;
}
// An answer in ABI form; borrows from it.
struct FoundView {
  std::deque<RecordView> records;
  std::vector<const davit_record*> pointers;
  davit_error error{};
  davit_records_page abi{};

  explicit FoundView(const Result<Found>& found) {
    abi.struct_size = sizeof abi;
    if (!found.ok()) {
      fill(&error, found.error());
      abi.error = &error;
      return;
    }
    for (const Record& r : found->records) pointers.push_back(&records.emplace_back(r).abi);
    abi.flags = found->more ? DAVIT_PAGE_MORE : 0;
    abi.records = pointers.data();
    abi.records_count = pointers.size();
    abi.next = to_abi(found->next);
    abi.head = to_abi(found->head);
  }
  FoundView(const FoundView&) = delete;
  FoundView& operator=(const FoundView&) = delete;
};

inline Event from_abi(const davit_records_event& e) {
  Event out{e.type, std::nullopt, from_abi(e.at)};
  if (e.record != nullptr) out.record = from_abi(*e.record);
  return out;
}
// An event in ABI form; borrows from it.
struct EventView {
  std::optional<RecordView> record;
  davit_records_event abi{};

  explicit EventView(const Event& e) {
    if (e.record) record.emplace(*e.record);
    abi = {sizeof abi, e.type, record ? &record->abi : nullptr, to_abi(e.at)};
  }
  EventView(const EventView&) = delete;
  EventView& operator=(const EventView&) = delete;
};

}  // namespace records
}  // namespace davit
