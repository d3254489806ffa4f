#include "ownership.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "kubernetes/json.hpp"
#include "object.hpp"

namespace davit::applier {
namespace {

constexpr std::string_view kubernetes_itself = "kube-";

// FieldsV1 has an object for each field, and {} where the field is owned.
json::object* fields_of(json::object& entry) {
  json::value* fields = entry.if_contains("fieldsV1");
  return fields == nullptr ? nullptr : fields->if_object();
}

void unite(json::object& into, const json::object& more) {
  for (const auto& [key, value] : more) {
    json::object& there = kubernetes::object_made(into, key);
    if (value.is_object()) unite(there, value.get_object());
  }
}

// Moves the fields that a desired state can set out of an entry.
json::object taken_from(json::object& fields) {
  json::object out;
  for (auto it = fields.begin(); it != fields.end();) {
    if (it->key() == "f:metadata" || it->key() == "f:status") {
      ++it;
      continue;
    }
    out[it->key()] = std::move(it->value());
    it = fields.erase(it);
  }
  return out;
}

}  // namespace

std::string other_owner(const Meta& meta, const Claim& claim) {
  const auto differs = [](const std::string& is, const std::string& ours) {
    return !is.empty() && is != ours;
  };
  const auto quoted = [](const char* what, const std::string& name) {
    return std::string(what) + " \"" + name + "\"";
  };
  std::string out;
  if (differs(meta.region, claim.region)) {
    out = quoted("region", meta.region);
  } else if (differs(meta.kind, claim.kind)) {
    out = quoted("kind", meta.kind);
  } else if (differs(meta.record, claim.record)) {
    return quoted("record", meta.record);
  }
  if (!out.empty() && !meta.record.empty()) out += " (" + quoted("record", meta.record) + ")";
  return out;
}

bool made_later(Cursor made_of, const Knowledge& known) {
  if (!made_of.incarnation || made_of.version <= known.version) return false;
  if (made_of.incarnation == known.incarnation || made_of.incarnation == known.stream) return true;
  return known.history != nullptr && knows(*known.history, made_of);
}

bool cannot_be_placed(Cursor made_of, const Knowledge& known) {
  const Incarnation it = made_of.incarnation;
  if (!it || !known.stream || it == known.stream || it == known.incarnation) return false;
  if (known.foreign_incarnations != nullptr && known.foreign_incarnations->contains(it))
    return false;
  return known.history == nullptr ||
         std::none_of(known.history->begin(), known.history->end(),
                      [it](const Cursor& link) { return link.incarnation == it; });
}

bool of_this_history(Cursor made_of, const Knowledge& known) {
  if (known.history == nullptr || known.history->empty()) return true;
  return made_of.incarnation == known.incarnation || made_of.incarnation == known.stream ||
         knows(*known.history, made_of);
}

std::string last_writer(const json::object& metadata) {
  const json::value* all = metadata.if_contains("managedFields");
  std::string who, when;
  for (size_t i = 0; all != nullptr && all->is_array() && i < all->get_array().size(); ++i) {
    const json::object* entry = all->get_array()[i].if_object();
    if (entry == nullptr) continue;
    std::string manager = text_in(*entry, "manager"), time = text_in(*entry, "time");
    if (manager.empty() || manager.starts_with(kubernetes_itself) || time < when) continue;
    who = std::move(manager);
    when = std::move(time);
  }
  return who;
}

void trim_managers(json::object& metadata, std::string_view our_manager) {
  json::value* all = metadata.if_contains("managedFields");
  if (all == nullptr || !all->is_array()) {
    metadata.erase("managedFields");
    return;
  }
  json::array kept;
  for (auto& entry : all->get_array()) {
    const json::object* e = entry.if_object();
    if (e == nullptr || text_in(*e, "manager") == our_manager ||
        text_in(*e, "subresource") == "status")
      continue;
    kept.push_back(std::move(entry));
  }
  if (kept.empty()) {
    metadata.erase("managedFields");
  } else {
    *all = std::move(kept);
  }
}

json::object data_set_by(const json::object& metadata, std::string_view manager) {
  json::object out;
  const json::value* all = metadata.if_contains("managedFields");
  for (size_t i = 0; all != nullptr && all->is_array() && i < all->get_array().size(); ++i) {
    const json::object* entry = all->get_array()[i].if_object();
    if (entry == nullptr || text_in(*entry, "manager") != manager ||
        text_in(*entry, "operation") != "Apply")
      continue;
    const json::object* fields = kubernetes::object_in(*entry, "fieldsV1");
    const json::object* data =
        fields == nullptr ? nullptr : kubernetes::object_in(*fields, "f:data");
    if (data == nullptr) continue;
    for (const auto& [field, is] : *data) {
      if (field.starts_with("f:")) out[field.substr(2)] = true;
    }
  }
  return out;
}

bool take_fields_over(json::array& managers, std::string_view our_manager,
                      std::string_view api_version) {
  json::object taken;
  json::array kept;
  json::value ours;
  for (json::value entry : managers) {
    json::object* e = entry.if_object();
    json::object* fields = e == nullptr ? nullptr : fields_of(*e);
    if (fields == nullptr) continue;
    const std::string who = text_in(*e, "manager");
    const bool about_us =
        text_in(*e, "subresource").empty() && text_in(*e, "apiVersion") == api_version;
    if (about_us && who == our_manager && text_in(*e, "operation") == "Apply") {
      ours = std::move(entry);
      continue;
    }
    if (about_us && !who.starts_with(kubernetes_itself)) unite(taken, taken_from(*fields));
    if (!fields->empty()) kept.push_back(std::move(entry));
  }
  if (taken.empty()) return false;
  if (!ours.is_object()) {
    ours = {{"manager", our_manager},
            {"operation", "Apply"},
            {"apiVersion", api_version},
            {"fieldsType", "FieldsV1"},
            {"fieldsV1", json::object()}};
  }
  unite(*fields_of(ours.get_object()), taken);
  kept.push_back(std::move(ours));
  managers = std::move(kept);
  return true;
}

}  // namespace davit::applier
