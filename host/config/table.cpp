#include "table.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace davit::host {

namespace {

std::string resolve_credential(const std::string& name, std::string* problem) {
  if (name.empty() || name.find('/') != std::string::npos || name.front() == '.') {
    *problem = "credential \"" + name + "\" is not a name";
    return {};
  }
  const char* given = std::getenv("CREDENTIALS_DIRECTORY");
  if (given == nullptr || *given == '\0') {
    *problem = "credential \"" + name +
               "\": $CREDENTIALS_DIRECTORY is not set (the service manager sets it: "
               "LoadCredential=)";
    return {};
  }
  const std::filesystem::path directory(given);
  std::error_code unseen;
  // What cannot be looked at is named by who reads it.
  if (!std::filesystem::is_directory(directory, unseen)) return (directory / name).string();
  for (const std::string& file : {name, "davit_" + name}) {
    std::error_code error;
    const auto type = std::filesystem::status(directory / file, error).type();
    if (type != std::filesystem::file_type::not_found) return (directory / file).string();
  }
  *problem = "there is no credential \"" + name + "\": put it into /etc/davit/credentials/" + name +
             ", or write LoadCredential=" + name + ":FILE into the unit, and restart";
  return {};
}

}  // namespace

std::string resolve_path(std::string_view path, std::string_view file, std::string* problem) {
  if (path.empty()) {
    *problem = "must not be empty";
    return {};
  }
  if (path.find('\0') != std::string_view::npos) {
    *problem = "must not contain a zero byte";
    return {};
  }
  if (path.starts_with(credential_scheme))
    return resolve_credential(std::string(path.substr(credential_scheme.size())), problem);
  const std::filesystem::path folder =
      std::filesystem::absolute(std::filesystem::path(file)).parent_path();
  return (folder / path).lexically_normal().string();
}

std::string Table::name() const {
  return node_ != nullptr ? node_->name : key_.substr(key_.rfind('.') + 1);
}
std::string Table::where() const {
  return node_ == nullptr ? "" : node_->where;
}
std::string Table::where(std::string_view key) const {
  const Node* node = node_ == nullptr ? nullptr : node_->find(key);
  return node == nullptr ? where() : node->where;
}

bool Table::has(std::string_view key) const {
  return node_ != nullptr && node_->ask(key) != nullptr;
}

void Table::reject(std::string_view key, std::string_view message) const {
  const Node* node = node_ == nullptr || key.empty() ? nullptr : node_->ask(key);
  if (node != nullptr) {
    node->reject(*faults_, message);
  } else if (key.empty()) {
    faults_->add(where(), key_, message);
  } else {
    faults_->add(where(), key_, "key \"" + std::string(key) + "\": " + std::string(message));
  }
}

const Node* Table::get(std::string_view key, Node::Type type, const char* wanted,
                       bool optional) const {
  const Node* node = node_ == nullptr ? nullptr : node_->ask(key);
  if (node == nullptr) {
    if (!optional) reject(key, std::string("is missing (") + wanted + ")");
    return nullptr;
  }
  if (node->type == type) return node;
  node->reject(*faults_, std::string("must be ") + wanted);
  return nullptr;
}

std::string Table::string(std::string_view key, std::optional<std::string> fallback) const {
  const Node* node = get(key, Node::Type::string, "a string", fallback.has_value());
  return node == nullptr ? fallback.value_or("") : node->string;
}

int64_t Table::integer(std::string_view key, std::optional<int64_t> fallback, int64_t min,
                       int64_t max) const {
  const Node* node = get(key, Node::Type::integer, "an integer", fallback.has_value());
  if (node == nullptr) return fallback.value_or(min);
  if (node->integer >= min && node->integer <= max) return node->integer;
  node->reject(*faults_, "must be between " + std::to_string(min) + " and " + std::to_string(max) +
                             ", not " + std::to_string(node->integer));
  return fallback.value_or(min);
}

std::chrono::milliseconds Table::milliseconds(std::string_view key,
                                              std::chrono::milliseconds fallback, int64_t min,
                                              int64_t max) const {
  return std::chrono::milliseconds(integer(key, fallback.count(), min, max));
}

bool Table::boolean(std::string_view key, bool fallback) const {
  const Node* node = get(key, Node::Type::boolean, "true or false", true);
  return node == nullptr ? fallback : node->boolean;
}

std::vector<std::string> Table::strings(std::string_view key,
                                        std::vector<std::string> fallback) const {
  const Node* node = get(key, Node::Type::array, "an array of strings", true);
  if (node == nullptr) return fallback;
  std::vector<std::string> out;
  for (const auto& item : node->children) {
    item->read = true;
    if (item->type == Node::Type::string) {
      out.push_back(item->string);
    } else {
      item->reject(*faults_, "must be a string");
    }
  }
  return out;
}

std::string Table::word(std::string_view key, const std::vector<std::string>& words,
                        std::string_view fallback) const {
  const std::string value = string(key, std::string(fallback));
  if (std::find(words.begin(), words.end(), value) != words.end()) return value;
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "\"" : ", \"") + word + "\"";
  reject(key, "must be one of " + all + ", not \"" + value + "\"");
  return std::string(fallback);
}

std::string Table::path(std::string_view key, bool required) const {
  const Node* node = get(key, Node::Type::string, "a path", !required);
  if (node == nullptr) return {};
  std::string problem;
  std::string path = resolve_path(node->string, node->file, &problem);
  if (!problem.empty()) node->reject(*faults_, problem);
  return path;
}

std::vector<std::string> Table::paths(std::string_view key) const {
  std::vector<std::string> out = strings(key);
  for (std::string& path : out) {
    std::string problem;
    path = resolve_path(path, node_->ask(key)->file, &problem);
    if (!problem.empty()) reject(key, problem);
  }
  return out;
}

Table Table::table(std::string_view key) const {
  std::string full = key_.empty() ? std::string(key) : key_ + "." + std::string(key);
  return {get(key, Node::Type::table, "a table", true), std::move(full), faults_};
}

std::vector<Table> Table::tables(std::string_view key) const {
  std::vector<Table> out;
  const Node* node = get(key, Node::Type::array, "an array of tables", true);
  if (node == nullptr) return out;
  for (const auto& item : node->children) {
    item->read = true;
    if (item->type == Node::Type::table) {
      out.emplace_back(item.get(), item->key, faults_);
    } else {
      item->reject(*faults_, "must be a table");
    }
  }
  return out;
}

std::vector<Table> Table::named() const {
  std::vector<Table> out;
  if (node_ == nullptr) return out;
  for (const auto& child : node_->children) {
    child->read = true;
    if (child->type == Node::Type::table) {
      out.emplace_back(child.get(), child->key, faults_);
    } else {
      child->reject(*faults_, "must be a table");
    }
  }
  return out;
}

}  // namespace davit::host
