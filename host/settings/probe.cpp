#include "probe.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "text_pieces.hpp"

namespace davit::host {
namespace {

constexpr int rounds_max = 400;  // a reader that asks for another key each time is given up
// Wrong values, each of which makes a reader say what is right: of no type that a reader takes; an
// integer below every limit; a word that nobody knows.
constexpr const char* wrong_type = "0.5";
constexpr const char* wrong_integer = "-9223372036854775807";
constexpr const char* wrong_word = "\"?\"";

std::optional<Setting::Type> type_said(std::string_view message) {
  static const std::map<std::string_view, Setting::Type> said{
      {"a string", Setting::Type::string},
      {"a path", Setting::Type::string},
      {"an integer", Setting::Type::integer},
      {"true or false", Setting::Type::boolean},
      {"an array of strings", Setting::Type::strings},
      {"a table", Setting::Type::table},
      {"an array of tables", Setting::Type::tables},
  };
  const auto found = said.find(message);
  if (found == said.end()) return std::nullopt;
  return found->second;
}

// Whether it is a word that stands for itself, and no form such as "unix:/PATH".
bool is_word(const std::string& text) {
  return text.find_first_of(":/ ") == std::string::npos;
}

// What stands in double quotes, up to ", not ": `must be one of "a", "b", not "?"`.
std::vector<std::string> words_said(std::string_view message) {
  message = message.substr(0, message.find(", not "));
  std::vector<std::string> out;
  for (size_t open = message.find('"'); open != std::string_view::npos;) {
    const size_t close = message.find('"', open + 1);
    if (close == std::string_view::npos) break;
    out.emplace_back(message.substr(open + 1, close - open - 1));
    open = message.find('"', close + 1);
  }
  if (!std::all_of(out.begin(), out.end(), is_word)) out.clear();
  return out;
}

// "1 and 5, not -9" of an integer's refusal.
void limits_said(std::string_view message, Setting& to) {
  int64_t min = 0, max = 0;
  const char* const end = message.data() + message.size();
  const auto first = std::from_chars(message.data(), end, min);
  constexpr std::string_view between = " and ";
  if (first.ec != std::errc() || !std::string_view(first.ptr, end).starts_with(between)) return;
  if (std::from_chars(first.ptr + between.size(), end, max).ec != std::errc()) return;
  to.min = min;
  to.max = max;
}

// "token", "name" of "token[0].name".
std::vector<std::string> split(std::string_view key) {
  std::vector<std::string> out;
  while (!key.empty()) {
    const size_t dot = std::min(key.find('.'), key.size());
    std::string_view part = key.substr(0, dot);
    out.emplace_back(part.substr(0, part.find('[')));
    key.remove_prefix(std::min(dot + 1, key.size()));
  }
  return out;
}

}  // namespace

struct SettingsProbe::Guess {
  Setting setting;
  // What the next text gives it, in this order: a wrong type, a wrong value of its type, and then
  // nothing, unless it is required.
  enum class Stage { wrong_type, wrong_value, usual } stage = Stage::wrong_type;
  bool fresh = true;        // the last text did not have it
  bool no_setting = false;  // it is refused whatever its value
  std::map<std::string, std::unique_ptr<Guess>, std::less<>> parts;

  bool is_table() const {
    return setting.type == Setting::Type::table || setting.type == Setting::Type::tables;
  }
  std::string value() const;
  Setting made() const;
};

std::string SettingsProbe::Guess::value() const {
  const bool integer = setting.type == Setting::Type::integer;
  const bool string = setting.type == Setting::Type::string;
  if (stage == Stage::wrong_type) return wrong_type;
  if (stage == Stage::wrong_value) return integer ? wrong_integer : string ? wrong_word : "";
  if (!setting.required) return "";
  if (integer) return std::to_string(setting.min);
  if (string) return setting.words.empty() ? wrong_word : "\"" + setting.words.front() + "\"";
  if (setting.type == Setting::Type::strings) return "[\"?\"]";
  return setting.type == Setting::Type::boolean ? "true" : "";
}

Setting SettingsProbe::Guess::made() const {
  Setting out = setting;
  for (const auto& [name, part] : parts) {
    if (!part->no_setting) out.parts.push_back(part->made());
  }
  if (out.type == Setting::Type::table && out.parts.empty()) out.type = Setting::Type::entries;
  return out;
}

SettingsProbe::SettingsProbe(std::string table, std::string given)
    : table_(std::move(table)), given_(std::move(given)), root_(std::make_unique<Guess>()) {
  root_->setting.type = Setting::Type::table;
}

SettingsProbe::~SettingsProbe() = default;

std::string SettingsProbe::text() const {
  std::string out;
  print(*root_, "[" + table_ + "]", out);
  return out;
}

void SettingsProbe::print(const Guess& table, const std::string& heading, std::string& out) const {
  out += heading + "\n";
  if (&table == root_.get()) out += given_ + "\n";
  const Guess* const varied = variant_ ? at(variant_->path) : nullptr;
  for (const auto& [name, part] : table.parts) {
    if (part->no_setting || part->is_table()) continue;
    const std::string value = part.get() == varied ? variant_->value : part->value();
    if (!value.empty()) out += name + " = " + value + "\n";
  }
  const std::string above = heading.substr(0, heading.find(']'));
  for (const auto& [name, part] : table.parts) {
    if (part->no_setting || !part->is_table()) continue;
    const bool array = part->setting.type == Setting::Type::tables;
    std::string inner = above.substr(above.find_first_not_of('[')) + "." + name;
    print(*part, array ? "[[" + inner + "]]" : "[" + inner + "]", out);
  }
}

// Whether the reader has asked for keys that are new.
bool SettingsProbe::ask(Guess& table, const Node& node) {
  bool news = false;
  for (const std::string& key : node.asked) {
    const bool given =
        given_.starts_with(key + " =") || given_.find("\n" + key + " =") != given_.npos;
    if (&table == root_.get() && given) continue;
    const auto [at, is_new] = table.parts.try_emplace(key);
    if (is_new) {
      at->second = std::make_unique<Guess>();
      at->second->setting.name = key;
      news = true;
    }
  }
  for (auto& [name, part] : table.parts) {
    const Node* below = node.find(name);
    if (below != nullptr && below->type == Node::Type::array && !below->children.empty())
      below = below->children.front().get();
    if (below != nullptr && below->type == Node::Type::table) news |= ask(*part, *below);
  }
  return news;
}

SettingsProbe::Guess* SettingsProbe::at(const std::vector<std::string>& path) const {
  Guess* guess = root_.get();
  for (const std::string& name : path) {
    const auto found = guess->parts.find(name);
    if (found == guess->parts.end()) return nullptr;
    guess = found->second.get();
  }
  return guess;
}

// "probe:12: plugin.probe.path: must be a string", or
// "probe:1: plugin.probe: key "path": is missing (a string)".
void SettingsProbe::hear(std::string_view line) {
  line.remove_prefix(std::min(line.find(": "), line.size()));
  if (!take_prefix(line, ": ") || !take_prefix(line, table_)) return;
  take_prefix(line, ".");
  const size_t end = line.starts_with(": ") ? 0 : std::min(line.find(": "), line.size());
  std::vector<std::string> path = split(line.substr(0, end));
  line.remove_prefix(end);
  if (!take_prefix(line, ": ")) return;
  if (take_prefix(line, "key \"")) {
    path.emplace_back(line.substr(0, line.find('"')));
    line.remove_prefix(std::min(path.back().size() + 1, line.size()));
    take_prefix(line, ": ");
  }
  Guess* const guess = at(path);
  if (guess == nullptr || guess == root_.get()) return;
  if (line.ends_with("remove the key")) guess->no_setting = true;
  Setting& setting = guess->setting;
  if (line.starts_with("is missing (")) {
    // Beside a variant it may be missing for that value only.
    if (!variant_) setting.required = true;
  } else if (!take_prefix(line, "must be ") || guess->fresh) {
    return;
  } else if (take_prefix(line, "between ")) {
    limits_said(line, setting);
  } else if (const auto type = type_said(line)) {
    if (guess->stage == Guess::Stage::wrong_type) setting.type = *type;
  } else if (line.starts_with("one of \"") || line.starts_with('"')) {
    const bool new_words = setting.type == Setting::Type::string && setting.words.empty();
    if (new_words && guess->stage == Guess::Stage::wrong_value) setting.words = words_said(line);
  }
}

// Every value that was in the text has been answered.
void SettingsProbe::advance(Guess& table) {
  for (auto& [name, part] : table.parts) {
    advance(*part);
    if (std::exchange(part->fresh, false)) continue;
    if (part->stage == Guess::Stage::wrong_value) part->stage = Guess::Stage::usual;
    if (part->stage == Guess::Stage::wrong_type) part->stage = Guess::Stage::wrong_value;
  }
}

bool SettingsProbe::all_usual(const Guess& table) {
  return std::all_of(table.parts.begin(), table.parts.end(), [](const auto& entry) {
    return entry.second->stage == Guess::Stage::usual && all_usual(*entry.second);
  });
}

void SettingsProbe::collect_variants(const Guess& table, std::vector<std::string>& path) {
  const auto add = [&](std::string value) {
    if (known_variants_.emplace(path, value).second) variants_.push_back({path, std::move(value)});
  };
  for (const auto& [name, part] : table.parts) {
    path.push_back(name);
    for (const std::string& word : part->setting.words) add("\"" + word + "\"");
    if (part->setting.type == Setting::Type::boolean) {
      add("true");
      add("false");
    }
    collect_variants(*part, path);
    path.pop_back();
  }
}

void SettingsProbe::learn(const Node& root, const Faults& faults) {
  const Node* node = &root;
  for (const std::string& name : split(table_)) node = node == nullptr ? nullptr : node->find(name);
  const bool news = node != nullptr && ask(*root_, *node);
  for (const std::string& line : faults.lines()) hear(line);
  advance(*root_);
  done_ = ++rounds_ >= rounds_max;
  if (news || !all_usual(*root_)) return;
  std::vector<std::string> path;
  collect_variants(*root_, path);
  if (variants_.empty()) {
    done_ = true;
    return;
  }
  variant_ = variants_.back();
  variants_.pop_back();
}

Setting SettingsProbe::found() const {
  return root_->made();
}

}  // namespace davit::host
