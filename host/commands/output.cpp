#include "output.hpp"

#include <chrono>
#include <cstdio>

#include <google/protobuf/util/json_util.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "exit_codes.hpp"
#include "text_table.hpp"
#include "yaml.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

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

void add_format(Command& command, Format& into, const std::string& about) {
  const auto read = [&into](const std::string& word) {
    if (word != "table" && word != "json" && word != "yaml")
      throw UsageError("-o must be table, json or yaml, not \"" + word + "\"");
    into = word == "table" ? Format::table : word == "json" ? Format::json : Format::yaml;
  };
  command.add_option_function<std::string>("-o,--output", read, about)
      ->type_name("table|json|yaml");
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
  const std::string line =
      "davit " + command + ": " + (error.where.empty() ? "" : error.where + ": ") + error.message;
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
