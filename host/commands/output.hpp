// Prints the answers of the operator's commands as table, names, JSON or YAML, and their errors.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include <davit/types.hpp>

#include "command_line.hpp"
#include "jsonpath.hpp"

namespace google::protobuf {
class Message;
}

namespace davit::host {

// wide: a table with all columns, however narrow the terminal is. name: a line KIND/ID for each
// record. jsonpath: what a template selects.
enum class Format { table, wide, name, json, yaml, jsonpath };
// Adds -o and --output. The command takes table, json, yaml and `more`; with `path` also
// jsonpath=TEMPLATE, which is read into it.
void add_format(Command& command, Format& into, const std::string& about = "how it is printed",
                const std::vector<Format>& more = {}, JsonPath* path = nullptr);
inline bool is_document(Format format) {
  return format == Format::json || format == Format::yaml;
}
// How many letters a line of a table may have; 0: no limit.
size_t table_room(Format format);
// The line of Format::name.
std::string name_line(const std::string& kind, const std::string& id);

// Prints a value as JSON or YAML; for these formats only.
void print(const boost::json::value& value, Format format);
// Prints what the template selects of a value. Returns an exit code: an error, such as an index
// that is out of bounds, is printed as one of the command.
int print(const boost::json::value& value, const JsonPath& path, const std::string& command);
// Converts a message, with proto field names, 64-bit integers as strings, and zeros written out.
boost::json::value to_json(const google::protobuf::Message& message);

// Prints one line for people, made harmless (text_table.hpp).
void tell(std::FILE* to, const std::string& line);
// Flushes standard output. False: it has failed, now or earlier.
bool flush_output();

// Prints "davit NAME: message" to standard error. Returns the exit code of the error.
int failed(const std::string& command, const Error& error);
// The same for an error in the command line (a server's address, a token file): the exit code is
// exit_code_usage.
int not_usable(const std::string& command, const Error& error);
int64_t unix_ms_now();

}  // namespace davit::host
