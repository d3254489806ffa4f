#include "batch.hpp"

namespace davit::secret_store {
Batch::Batch(std::vector<secrets::Item> items, Limits limits, const Ask& ask)
    : items_(std::move(items)), limits_(limits) {
  std::map<ItemKey, size_t> known;
  item_wanted_.reserve(items_.size());
  for (const auto& item : items_) item_wanted_.push_back(find_or_add(item, ask, known));
  states_.resize(wanted_.size());
}

Result<size_t> Batch::find_or_add(const secrets::Item& item, const Ask& ask,
                                  std::map<ItemKey, size_t>& known) {
  auto asked = ask(item);
  if (!asked.ok()) return asked.error();
  const ItemKey key = item_key(asked->group, asked->text);
  const auto [at, added] = known.emplace(key, wanted_.size());
  if (added) wanted_.push_back({std::move(asked->group), asked->text, key});
  return at->second;
}

void Batch::known(size_t wanted, Secret value, std::string version) {
  states_[wanted].value = std::move(value);
  states_[wanted].version = std::move(version);
}

// Items of one group go together, whatever stands between them.
void Batch::plan() {
  struct Growing {
    Part part;
    size_t bytes = 0;
  };
  std::map<std::string_view, Growing> growing;
  for (size_t n = 0; n < wanted_.size(); ++n) {
    if (!states_[n].open()) continue;
    auto& [part, bytes] = growing[wanted_[n].group];
    const size_t more = wanted_[n].text.size();
    const bool full = part.wanted.size() == limits_.items_max || bytes + more > limits_.bytes_max;
    if (full && !part.wanted.empty()) {
      parts_.push_back(std::exchange(part, {}));
      bytes = 0;
    }
    part.group = wanted_[n].group;
    part.wanted.push_back(n);
    bytes += more;
  }
  for (auto& [group, last] : growing) parts_.push_back(std::move(last.part));
}

const Batch::Part* Batch::next() {
  if (!std::exchange(planned_, true)) plan();
  return parts_.empty() ? nullptr : &parts_.front();
}

void Batch::decrypted(std::vector<std::optional<Secret>> values,
                      const std::map<size_t, Error>& errors, const std::string& version) {
  const Part part = std::move(parts_.front());
  parts_.pop_front();
  for (size_t n = 0; n < part.wanted.size(); ++n) {
    State& state = states_[part.wanted[n]];
    if (n < values.size() && values[n]) {
      state.value = std::move(values[n]);
      state.version = version;
      decrypted_any_ = true;
      refusals_ = 0;
    } else if (const auto error = errors.find(n); error != errors.end()) {
      state.error = error->second;
    } else {
      state.error = Error{Code::internal, "the vault's answer has no value for this item"};
    }
  }
}

void Batch::refused(Error why, bool certain) {
  Part part = std::move(parts_.front());
  parts_.pop_front();
  if (part.wanted.size() > 1) {
    const auto half = part.wanted.begin() + static_cast<std::ptrdiff_t>(part.wanted.size() / 2);
    Part second{part.group, {half, part.wanted.end()}};
    part.wanted.erase(half, part.wanted.end());
    parts_.push_front(std::move(second));
    parts_.push_front(std::move(part));
    return;
  }
  State& state = states_[part.wanted.front()];
  state.error = std::move(why);
  state.blamed = !certain;
  if (certain || ++refusals_ < refusals_max) return;
  fail_all({Code::unavailable, "was not tried, as the vault refused " +
                                   std::to_string(refusals_max) + " others one by one"});
}

void Batch::fail(const Part& part, const Error& why) {
  for (const size_t n : part.wanted) states_[n].error = why;
}

void Batch::fail_group(const Error& why) {
  const std::string_view group = parts_.front().group;
  std::erase_if(parts_, [&](const Part& part) {
    if (part.group != group) return false;
    fail(part, why);
    return true;
  });
}

void Batch::fail_all(const Error& why) {
  for (const Part& part : parts_) fail(part, why);
  parts_.clear();
}

std::vector<ItemKey> Batch::blamed() const {
  std::vector<ItemKey> out;
  for (size_t n = 0; n < states_.size(); ++n) {
    if (states_[n].blamed) out.push_back(wanted_[n].key);
  }
  return out;
}

void Batch::acquit(const Error& why) {
  for (State& state : states_) {
    if (std::exchange(state.blamed, false)) state.error = why;
  }
}

secrets::Results Batch::take_results(const Error& open) {
  std::vector<size_t> users(states_.size());  // items that are still to get this value
  for (const auto& wanted : item_wanted_) {
    if (wanted.ok()) ++users[*wanted];
  }
  secrets::Results out;
  out.reserve(items_.size());
  for (size_t n = 0; n < items_.size(); ++n) {
    const auto told = [&](Error error) {
      const secrets::Item& item = items_[n];
      error.where = item.type == DAVIT_SECRET_READ ? item.ref : item.keyring;
      return error;
    };
    if (!item_wanted_[n].ok()) {
      out.emplace_back(told(item_wanted_[n].error()));
      continue;
    }
    State& state = states_[*item_wanted_[n]];
    if (!state.value) {
      out.emplace_back(told(state.error ? *state.error : open));
    } else if (--users[*item_wanted_[n]] > 0) {
      out.emplace_back(secrets::Value{Secret(state.value->view()), state.version, 0});
    } else {
      out.emplace_back(secrets::Value{std::move(*state.value), state.version, 0});
    }
  }
  return out;
}

}  // namespace davit::secret_store
