#include "output.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include <google/protobuf/util/json_util.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "exit_codes.hpp"
#include "suggestions.hpp"
#include "text_table.hpp"
#include "yaml.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

// What stands before a template.
constexpr std::string_view template_follows = "jsonpath=";

// Two spaces per level and one key per line, for people and for diff.
void pretty(const json::value& v, std::string& out, const std::string& indent) {
  const std::string deeper = indent + "  ";
  if (v.is_object() && !v.get_object().empty()) {
    out += "{";
    const char* separator = "\n";
    for (const auto& [key, value] : v.get_object()) {
      out += separator + deeper + json::serialize(json::string(key)) + ": ";
      pretty(value, out, deeper);
      separator = ",\n";
    }
    out += "\n" + indent + "}";
  } else if (v.is_array() && !v.get_array().empty()) {
    out += "[";
    const char* separator = "\n";
    for (const auto& item : v.get_array()) {
      out += separator + deeper;
      pretty(item, out, deeper);
      separator = ",\n";
    }
    out += "\n" + indent + "]";
  } else {
    out += json::serialize(v);
  }
}

}  // namespace

void add_format(Command& command, Format& into, const std::string& about,
                const std::vector<Format>& more, JsonPath* path) {
  const std::vector<std::pair<std::string, Format>> all = {{"table", Format::table},
                                                           {"wide", Format::wide},
                                                           {"name", Format::name},
                                                           {"json", Format::json},
                                                           {"yaml", Format::yaml}};
  std::map<std::string, Format> taken;
  std::string words;
  for (const auto& [word, format] : all) {
    const bool extra = format == Format::wide || format == Format::name;
    if (extra && std::find(more.begin(), more.end(), format) == more.end()) continue;
    taken.emplace(word, format);
    words += (words.empty() ? "" : "|") + word;
  }
  if (path != nullptr) words += "|" + std::string(template_follows);
  const auto read = [&into, path, taken, words](const std::string& word) {
    if (path != nullptr && word.starts_with(template_follows)) {
      auto parsed = JsonPath::parse(std::string_view(word).substr(template_follows.size()));
      if (!parsed.ok()) throw UsageError("-o jsonpath: " + parsed.error().message);
      *path = std::move(*parsed);
      into = Format::jsonpath;
      return;
    }
    const auto found = taken.find(word);
    if (found == taken.end())
      throw UsageError("-o must be one of " + words + ", not \"" + word + "\"");
    into = found->second;
  };
  command.add_option_function<std::string>("-o,--output", read, about)->type_name(words);
}

size_t table_room(Format format) {
  return format == Format::wide ? 0 : terminal_columns();
}

std::string name_line(const std::string& kind, const std::string& id) {
  return kind + "/" + id;
}

void print(const json::value& value, Format format) {
  std::string out;
  if (format == Format::yaml) {
    out = to_yaml(value);
  } else {
    pretty(value, out, "");
    out += "\n";
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
}

int print(const json::value& value, const JsonPath& path, const std::string& command) {
  const auto text = path.print(value);
  if (!text.ok()) return failed(command, text.error());
  std::fwrite(text->data(), 1, text->size(), stdout);
  return exit_code_done;
}

json::value to_json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  return status.ok() ? json::parse(text) : json::value(status.ToString());
}

void tell(std::FILE* to, const std::string& line) {
  std::fprintf(to, "%s\n", harmless(line).c_str());
}

bool flush_output() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

int failed(const std::string& command, const Error& error) {
  const std::string line = "davit " + command + ": " +
                           (error.where.empty() ? "" : error.where + ": ") +
                           with_nearest_kind(error.message);
  tell(stderr, line);
  return exit_code_of(error.code);
}

int not_usable(const std::string& command, const Error& error) {
  failed(command, error);
  return exit_code_usage;
}

int64_t unix_ms_now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace davit::host
