// Flags and reserved members (abi.h): what a store must understand, and what it must ignore.
#include "storage.hpp"

namespace davit::conformance {
namespace {

// Bits that no version of the contract has given away yet.
constexpr uint32_t unknown_critical = 0x80000000u, unknown_hint = 0x8000u;

// Calls of the store's table with members that a test chooses.
class Raw {
 public:
  explicit Raw(Store& store) : table_(store.vtable()), self_(store.self()) {}

  // The ids that a read with these flags visits.
  int32_t read(uint32_t flags, uint32_t reserved, std::vector<std::string>& ids) {
    const davit_scope scope{sizeof scope, reserved, str("widget"), str("r1")};
    const davit_read request{sizeof request, 100, &scope, {0, 0}, 0, UINT64_MAX, flags, reserved};
    auto page = to_fill<davit_page>();
    return done([&](davit_error* e) {
      return table_->read(
          self_, op_.abi(), &request,
          [](void* ctx, const davit_record* r) -> int32_t {
            static_cast<std::vector<std::string>*>(ctx)->push_back(text(r->key.id));
            return 0;
          },
          &ids, &page, e);
    });
  }
  int32_t get(uint32_t flags, uint32_t reserved, size_t& found) {
    const Key key = record("a").key;
    const davit_query request{sizeof request, reserved, to_abi(key), str(""), str("")};
    const davit_query* queries[] = {&request};
    const davit_get all{sizeof all, flags, queries, 1};
    davit_head head{};
    head.struct_size = sizeof head;
    head.reserved = reserved;
    return done([&](davit_error* e) {
      return table_->get(
          self_, op_.abi(), &all,
          [](void* ctx, const davit_record*) -> int32_t { return ++*static_cast<size_t*>(ctx), 0; },
          &found, &head, e);
    });
  }
  int32_t commit(uint32_t flags, uint32_t reserved) {
    const Record r = record("b");
    RecordView v(r);
    v.abi.flags |= flags;
    const davit_mutation mutation{sizeof mutation, reserved, &v.abi, DAVIT_EXPECT_ANY, 0};
    const davit_mutation* mutations = &mutation;
    const davit_group group{sizeof group, 1, &mutations, str(""), 0};
    const davit_group* groups = &group;
    davit_group_result result{};
    result.struct_size = sizeof result;
    result.reserved = reserved;
    davit_group_result* results = &result;
    const int32_t code = done(
        [&](davit_error* e) { return table_->commit(self_, op_.abi(), &groups, 1, &results, e); });
    return code != DAVIT_OK ? code : result.error.code;
  }
  int32_t report(uint32_t flags) {
    const Status s = status("a", 1);
    StatusView v(s);
    v.abi.flags |= flags;
    const davit_status* statuses = &v.abi;
    return done([&](davit_error* e) { return table_->report(self_, op_.abi(), &statuses, 1, e); });
  }
  int32_t maintain(uint32_t flags) {
    const davit_maintain request{sizeof request, flags, 0, str(""), str(""), 0};
    return done([&](davit_error* e) { return table_->maintain(self_, op_.abi(), &request, e); });
  }
  std::string message;  // of the last call's error

 private:
  template <class Call>
  int32_t done(Call&& call) {
    davit_error error{};
    const int32_t code = call(&error);
    message = error.message;
    return code;
  }

  const davit_storage* table_;
  davit_instance* self_;
  const Operation op_;
};

TEST(StorageFlags, AnUnknownCriticalFlagIsRefusedAndNothingIsDone) {
  Store store;
  put(*store, record("a"));
  Raw raw(store);
  std::vector<std::string> visited;
  EXPECT_EQ(raw.read(unknown_critical, 0, visited), DAVIT_UNIMPLEMENTED);
  EXPECT_NE(raw.message.find("davit_read"), std::string::npos) << raw.message;
  EXPECT_TRUE(visited.empty());
  size_t found = 0;
  EXPECT_EQ(raw.get(unknown_critical, 0, found), DAVIT_UNIMPLEMENTED);
  EXPECT_NE(raw.message.find("davit_get"), std::string::npos) << raw.message;
  EXPECT_EQ(found, 0u);
  EXPECT_EQ(raw.maintain(unknown_critical), DAVIT_UNIMPLEMENTED);
  EXPECT_NE(raw.message.find("davit_maintain"), std::string::npos) << raw.message;
  EXPECT_EQ(raw.report(unknown_critical), DAVIT_UNIMPLEMENTED);
  EXPECT_NE(raw.message.find("davit_status"), std::string::npos) << raw.message;
  EXPECT_TRUE(read_statuses(*store).empty());
  EXPECT_EQ(raw.commit(unknown_critical, 0), DAVIT_UNIMPLEMENTED);
  EXPECT_FALSE(get(*store, "b").has_value());
}

TEST(StorageFlags, AnUnknownHintChangesNothing) {
  Store store;
  put(*store, record("a"));
  Raw raw(store);
  std::vector<std::string> visited;
  EXPECT_EQ(raw.read(unknown_hint, 0, visited), DAVIT_OK) << raw.message;
  EXPECT_EQ(visited, std::vector<std::string>{"a"});
  size_t found = 0;
  EXPECT_EQ(raw.get(unknown_hint, 0, found), DAVIT_OK) << raw.message;
  EXPECT_EQ(found, 1u);
  EXPECT_EQ(raw.maintain(unknown_hint), DAVIT_OK) << raw.message;
  EXPECT_EQ(raw.report(unknown_hint), DAVIT_OK) << raw.message;
  EXPECT_EQ(read_statuses(*store).size(), 1u);
  EXPECT_EQ(raw.commit(unknown_hint, 0), DAVIT_OK) << raw.message;
  EXPECT_TRUE(get(*store, "b").has_value());
}

TEST(StorageFlags, WhatIsReservedIsNotRead) {
  Store store;
  put(*store, record("a"));
  Raw raw(store);
  constexpr uint32_t garbage = 0xdeadbeef;
  std::vector<std::string> visited;
  EXPECT_EQ(raw.read(0, garbage, visited), DAVIT_OK) << raw.message;
  EXPECT_EQ(visited, std::vector<std::string>{"a"});
  size_t found = 0;
  EXPECT_EQ(raw.get(0, garbage, found), DAVIT_OK) << raw.message;
  EXPECT_EQ(found, 1u);
  EXPECT_EQ(raw.commit(0, garbage), DAVIT_OK) << raw.message;
  EXPECT_TRUE(get(*store, "b").has_value());
}

}  // namespace
}  // namespace davit::conformance
