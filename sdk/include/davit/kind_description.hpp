// What a kind says about itself (davit_kind_description) as C++ values. kind.hpp includes this
// header. A kind's class fills in a Description and keeps it as a Described.
#pragma once

#include <deque>

#include "types.hpp"

namespace davit::kind {

struct Resource {
  int32_t role = DAVIT_RESOURCE_OWNED;
  std::string group, version, resource, kind;
  bool namespaced = true;
  std::string selector;
  std::vector<std::string> keep;
};

struct Column {
  int32_t source = DAVIT_COLUMN_SPEC;
  std::string name, path, type = "string";
  uint32_t priority = 0;
};

struct CtrlV1 {
  std::string watch, get, report;
  std::string state_type, watch_type, get_type, report_type, report_response_type;
};

struct Description {
  std::string kind, apply_type;
  davit_bytes descriptor_set{};  // static
  std::vector<std::string> json_fields;
  std::vector<Resource> resources;
  std::optional<CtrlV1> ctrl_v1;
  std::string default_state = "running";
  std::vector<Column> columns;
};

// A Description in ABI form; borrows from the Description and lives beside it.
class DescriptionView {
 public:
  explicit DescriptionView(const Description& d) {
    for (const auto& f : d.json_fields) json_fields_.push_back(str(f));
    for (const auto& r : d.resources) {
      auto& keep = keep_.emplace_back();
      for (const auto& k : r.keep) keep.push_back(str(k));
      resources_.push_back({sizeof(davit_kind_resource), r.role, str(r.group), str(r.version),
                            str(r.resource), str(r.kind), r.namespaced ? 1u : 0u,
                            static_cast<uint32_t>(keep.size()), str(r.selector), keep.data()});
    }
    for (const auto& r : resources_) pointers_.push_back(&r);
    for (const auto& c : d.columns)
      columns_.push_back({sizeof(davit_kind_column), c.source, str(c.name), str(c.path),
                          str(c.type), c.priority, 0});
    for (const auto& c : columns_) column_pointers_.push_back(&c);
    if (d.ctrl_v1) {
      const auto& c = *d.ctrl_v1;
      ctrl_v1_ = {sizeof(davit_kind_ctrl_v1),
                  0,
                  str(c.watch),
                  str(c.get),
                  str(c.report),
                  str(c.state_type),
                  str(c.watch_type),
                  str(c.get_type),
                  str(c.report_type),
                  str(c.report_response_type)};
    }
    abi_ = {sizeof(davit_kind_description),
            static_cast<uint32_t>(json_fields_.size()),
            str(d.kind),
            str(d.apply_type),
            d.descriptor_set,
            json_fields_.data(),
            pointers_.data(),
            pointers_.size(),
            d.ctrl_v1 ? &ctrl_v1_ : nullptr,
            str(d.default_state),
            column_pointers_.data(),
            column_pointers_.size()};
  }
  DescriptionView(const DescriptionView&) = delete;
  DescriptionView& operator=(const DescriptionView&) = delete;
  const davit_kind_description* get() const { return &abi_; }

 private:
  std::vector<davit_str> json_fields_;
  std::deque<std::vector<davit_str>> keep_;
  std::deque<davit_kind_resource> resources_;
  std::vector<const davit_kind_resource*> pointers_;
  std::deque<davit_kind_column> columns_;
  std::vector<const davit_kind_column*> column_pointers_;
  davit_kind_ctrl_v1 ctrl_v1_{};
  davit_kind_description abi_{};
};

inline Description from_abi(const davit_kind_description& d) {
  Description out;
  out.kind = text(d.kind);
  out.apply_type = text(d.apply_type);
  out.descriptor_set = d.descriptor_set;
  for (uint32_t i = 0; i < d.json_fields_count; ++i)
    out.json_fields.push_back(text(d.json_fields[i]));
  for (size_t i = 0; i < d.resources_count; ++i) {
    const auto& r = *d.resources[i];
    Resource& to = out.resources.emplace_back();
    to.role = r.role;
    to.group = text(r.group);
    to.version = text(r.version);
    to.resource = text(r.resource);
    to.kind = text(r.kind);
    to.namespaced = r.namespaced != 0;
    to.selector = text(r.selector);
    for (uint32_t k = 0; k < r.keep_count; ++k) to.keep.push_back(text(r.keep[k]));
  }
  if (d.ctrl_v1 != nullptr) {
    const auto& c = *d.ctrl_v1;
    out.ctrl_v1 = CtrlV1{
        text(c.watch),      text(c.get),      text(c.report),      text(c.state_type),
        text(c.watch_type), text(c.get_type), text(c.report_type), text(c.report_response_type)};
  }
  out.default_state = text(d.default_state);
  for (size_t i = 0; i < d.columns_count; ++i) {
    const auto& c = *d.columns[i];
    out.columns.push_back({c.source, text(c.name), text(c.path), text(c.type), c.priority});
  }
  return out;
}

// A description and its ABI form. A kind's class has one as a member.
class Described {
 public:
  explicit Described(Description d) : description_(std::move(d)), view_(description_) {}
  const Description& get() const { return description_; }
  const davit_kind_description* view() const { return view_.get(); }

 private:
  Description description_;
  DescriptionView view_;
};

}  // namespace davit::kind
