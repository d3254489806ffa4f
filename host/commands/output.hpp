// How the operator's commands print: table, json or yaml, and their errors.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include <boost/json/value.hpp>

#include <davit/types.hpp>

#include "arguments.hpp"

namespace google::protobuf {
class Message;
}

namespace davit::host {

enum class Format { table, json, yaml };
// -o or --output; nothing: what it says is none of them.
std::optional<Format> format_of(Arguments& arguments);

// Not for Format::table.
void print(const boost::json::value& value, Format format);
// With proto field names, 64-bit integers as strings and zeros written out.
boost::json::value to_json(const google::protobuf::Message& message);

// One line for people, harmless (text_table.hpp).
void tell(std::FILE* to, const std::string& line);
// Writes out what waits; false: standard output has failed, now or before.
bool flush_output();

// "davit NAME: message" on standard error; returns the exit code of the error.
int failed(const std::string& command, const Error& error);
// The same of what the command line names (a server's address, a token file).
int not_usable(const std::string& command, const Error& error);
int64_t unix_ms_now();

}  // namespace davit::host
