#include "fields.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace davit::cluster_memory::fields {
namespace {

using Keys = std::vector<std::string_view>;

// The keys by which Kubernetes merges a list, according to the list's field name. Empty: the list
// is atomic.
Keys keys_of(std::string_view field, const json::array& list, bool built_in) {
  struct Row {
    std::string_view field;
    Keys keys;
  };
  static const std::vector<Row> rows = {
      {"containers", {"name"}},
      {"initContainers", {"name"}},
      {"env", {"name"}},
      {"volumes", {"name"}},
      {"imagePullSecrets", {"name"}},
      {"volumeMounts", {"mountPath"}},
      {"ports", {"containerPort", "protocol"}},
      {"ports", {"port", "protocol"}},
      {"conditions", {"type"}},
      {"hostAliases", {"ip"}},
      {"topologySpreadConstraints", {"topologyKey", "whenUnsatisfiable"}},
  };
  static const Keys by_uid = {"uid"};
  auto fits = [&](const Keys& keys) {
    return !list.empty() && std::all_of(list.begin(), list.end(), [&](const json::value& item) {
      return item.is_object() && item.get_object().contains(keys.front());
    });
  };
  if (field == "ownerReferences") return fits(by_uid) ? by_uid : Keys{};
  if (!built_in) return {};
  for (const auto& row : rows) {
    if (row.field == field && fits(row.keys)) return row.keys;
  }
  return {};
}

json::value key_value(const json::object& item, std::string_view key) {
  if (const auto* v = item.if_contains(key)) return *v;
  return key == "protocol" ? json::value("TCP") : json::value(nullptr);
}

std::string item_key(const json::object& item, const Keys& keys) {
  json::object k;
  for (auto key : keys) k[key] = key_value(item, key);
  return "k:" + json::serialize(k);
}

json::value* find_item(json::array& list, const json::object& key) {
  for (auto& item : list) {
    if (!item.is_object()) continue;
    const bool same = std::all_of(key.begin(), key.end(), [&](const auto& kv) {
      return key_value(item.get_object(), kv.key()) == kv.value();
    });
    if (same) return &item;
  }
  return nullptr;
}

// The value inside `in` that an element of a set ("f:x", "k:{...}") names, or NULL.
json::value* step(json::value& in, std::string_view element) {
  if (element.starts_with("f:")) {
    return in.is_object() ? in.get_object().if_contains(element.substr(2)) : nullptr;
  }
  if (element.starts_with("k:") && in.is_array()) {
    return find_item(in.get_array(), json::parse(element.substr(2)).as_object());
  }
  return nullptr;
}
const json::value* step(const json::value* in, std::string_view element) {
  return in == nullptr ? nullptr : step(const_cast<json::value&>(*in), element);
}

json::object of_value(std::string_view field, const json::value& value, bool built_in);

json::object of_members(const json::object& object, bool built_in) {
  json::object out;
  for (const auto& [key, value] : object) {
    out["f:" + std::string(key)] = of_value(key, value, built_in);
  }
  return out;
}

json::object of_value(std::string_view field, const json::value& value, bool built_in) {
  if (value.is_object()) return of_members(value.get_object(), built_in);
  if (!value.is_array()) return {};
  json::object out;
  const Keys keys = keys_of(field, value.get_array(), built_in);
  if (keys.empty()) return out;
  for (const auto& item : value.get_array()) {
    json::object inner = of_members(item.get_object(), built_in);
    inner["."] = json::object{};
    out[item_key(item.get_object(), keys)] = std::move(inner);
  }
  return out;
}

std::string human(const std::vector<std::string>& path) {
  std::string out;
  for (const auto& element : path) {
    if (element.starts_with("k:")) {
      out += "[" + element.substr(2) + "]";
    } else {
      out += "." + element.substr(2);
    }
  }
  return out;
}

void find_conflicts(const json::object& mine, const json::object& theirs,
                    const json::value* applied, const json::value* live,
                    std::vector<std::string>& path, std::vector<Conflict>& out) {
  for (const auto& [key, inner] : mine) {
    const auto* other = theirs.if_contains(key);
    if (other == nullptr || key == ".") continue;
    const auto* a = step(applied, key);
    const auto* l = step(live, key);
    path.emplace_back(key);
    if (!inner.get_object().empty() && !other->get_object().empty()) {
      find_conflicts(inner.get_object(), other->get_object(), a, l, path, out);
    } else if (a == nullptr || l == nullptr || *a != *l) {
      out.push_back({path, human(path)});
    }
    path.pop_back();
  }
}

const json::object* child(const json::object* set, std::string_view key) {
  const auto* v = set == nullptr ? nullptr : set->if_contains(key);
  return v == nullptr ? nullptr : &v->get_object();
}

void erase_element(json::value& in, std::string_view element) {
  if (element.starts_with("f:")) {
    in.get_object().erase(element.substr(2));
  } else if (auto* item = step(in, element)) {
    auto& list = in.get_array();
    list.erase(list.begin() + (item - list.data()));
  }
}

bool empty(const json::value& v) {
  return (v.is_object() && v.get_object().empty()) || (v.is_array() && v.get_array().empty());
}

void remove_below(json::value& live, const json::object& before, const json::object* now,
                  const std::vector<const json::object*>& others) {
  for (const auto& [key, inner] : before) {
    if (key == ".") continue;
    auto* value = step(live, key);
    if (value == nullptr) continue;
    const json::object* mine = child(now, key);
    std::vector<const json::object*> theirs;
    for (const auto* o : others) {
      if (const auto* c = child(o, key)) theirs.push_back(c);
    }
    if (mine == nullptr && theirs.empty()) {
      // No manager owns anything below. A value that was owned as a whole is removed, and so is an
      // item of a keyed list. In a map, fields that no manager owned (the server set them) stay.
      if (inner.get_object().empty() || key.starts_with("k:")) {
        erase_element(live, key);
        continue;
      }
    }
    const bool whole_by_others =
        mine == nullptr &&
        std::any_of(theirs.begin(), theirs.end(), [](const auto* t) { return t->empty(); });
    if (whole_by_others || inner.get_object().empty()) continue;
    remove_below(*value, inner.get_object(), mine, theirs);
    if (mine == nullptr && theirs.empty() && empty(*value)) erase_element(live, key);
  }
}

}  // namespace

json::object of(const json::object& object, bool built_in) {
  return of_members(object, built_in);
}

json::object changed(const json::object& before, const json::object& after, bool built_in) {
  json::object out = of(after, built_in);
  const json::value old = before;
  const json::value fresh = after;
  auto drop_equal = [](auto& self, json::object& set, const json::value* a,
                       const json::value* b) -> void {
    for (auto it = set.begin(); it != set.end();) {
      const auto* x = step(a, it->key());
      const auto* y = step(b, it->key());
      auto& inner = it->value().get_object();
      const bool equal = it->key() == "." ? a != nullptr : x != nullptr && y != nullptr && *x == *y;
      bool drop = equal;
      if (!equal && !inner.empty()) {
        self(self, inner, x, y);
        drop = inner.empty();
      }
      it = drop ? set.erase(it) : it + 1;
    }
  };
  drop_equal(drop_equal, out, &old, &fresh);
  return out;
}

std::vector<Conflict> conflicts(const json::object& mine, const json::object& theirs,
                                const json::object& applied, const json::object& live) {
  std::vector<Conflict> out;
  std::vector<std::string> path;
  const json::value a = applied;
  const json::value l = live;
  find_conflicts(mine, theirs, &a, &l, path, out);
  return out;
}

void erase(json::object& set, const std::vector<std::string>& path) {
  json::object* at = &set;
  std::vector<json::object*> trail;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    auto* next = at->if_contains(path[i]);
    if (next == nullptr) return;
    trail.push_back(at);
    at = &next->get_object();
  }
  at->erase(path.back());
  // A branch without leaves owns nothing. If it stayed, it would mean "owns the whole value".
  for (size_t i = trail.size(); i-- > 0 && at->empty(); at = trail[i]) trail[i]->erase(path[i]);
}

void unite(json::object& into, const json::object& more) {
  for (const auto& [key, inner] : more) {
    auto* mine = into.if_contains(key);
    if (mine == nullptr) {
      into[key] = inner;
    } else {
      unite(mine->get_object(), inner.get_object());
    }
  }
}

void subtract(json::object& from, const json::object& less) {
  for (const auto& [key, inner] : less) {
    auto* mine = from.if_contains(key);
    if (mine == nullptr) continue;
    const bool leaf = mine->get_object().empty() || inner.get_object().empty();
    if (!leaf) subtract(mine->get_object(), inner.get_object());
    if (leaf || mine->get_object().empty()) from.erase(key);
  }
}

void keep_present(json::object& set, const json::object& object) {
  auto walk = [](auto& self, json::object& s, const json::value& v) -> void {
    for (auto it = s.begin(); it != s.end();) {
      const auto* inner = it->key() == "." ? &v : step(&v, it->key());
      auto& below = it->value().get_object();
      bool gone = inner == nullptr;
      if (!gone && !below.empty()) {
        self(self, below, *inner);
        gone = below.empty();
      }
      it = gone ? s.erase(it) : it + 1;
    }
  };
  walk(walk, set, json::value(object));
}

void merge(json::object& live, const json::object& applied, bool built_in) {
  for (const auto& [key, value] : applied) {
    auto* old = live.if_contains(key);
    if (old == nullptr) {
      live[key] = value;
    } else if (old->is_object() && value.is_object()) {
      merge(old->get_object(), value.get_object(), built_in);
    } else if (old->is_array() && value.is_array() && !old->get_array().empty()) {
      const Keys keys = keys_of(key, value.get_array(), built_in);
      if (keys.empty() || keys_of(key, old->get_array(), built_in) != keys) {
        *old = value;
        continue;
      }
      for (const auto& item : value.get_array()) {
        json::object k;
        for (auto name : keys) k[name] = key_value(item.get_object(), name);
        if (auto* found = find_item(old->get_array(), k)) {
          merge(found->get_object(), item.get_object(), built_in);
        } else {
          old->get_array().push_back(item);
        }
      }
    } else {
      *old = value;
    }
  }
}

void remove_omitted(json::object& live, const json::object& before, const json::object& now,
                    const std::vector<const json::object*>& others) {
  json::value root = std::move(live);
  remove_below(root, before, &now, others);
  live = std::move(root.get_object());
}

}  // namespace davit::cluster_memory::fields
