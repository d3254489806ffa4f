// Prints the answers of the operator's commands as table, JSON or YAML, and their errors.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include <boost/json/value.hpp>

#include <davit/types.hpp>

#include "command_line.hpp"

namespace google::protobuf {
class Message;
}

namespace davit::host {

enum class Format { table, json, yaml };
// Adds -o and --output.
void add_format(Command& command, Format& into, const std::string& about = "how it is printed");

// Prints a value as JSON or YAML; not for Format::table.
void print(const boost::json::value& value, Format format);
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
