#include "log.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <vector>

#include <davit/types.hpp>

#include "characters.hpp"
#include "journal.hpp"

namespace davit::host {
namespace {

std::string timestamp(int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  const size_t n = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(unix_ms % 1000));
  return std::string(text.data(), n) + fraction.data();
}

const char* word(int32_t level) {
  if (level <= DAVIT_LOG_DEBUG) return "debug";
  if (level == DAVIT_LOG_INFO) return "info";
  return level == DAVIT_LOG_WARN ? "warn" : "error";
}

// Bytes that are not UTF-8 would make the line unreadable for its readers. They become U+FFFD.
void escape(std::string& out, std::string_view s) {
  while (!s.empty()) {
    const size_t length = character_length(s);
    const std::string_view whole = s.substr(0, std::max<size_t>(length, 1));
    s.remove_prefix(whole.size());
    const char c = whole.front();
    if (length == 0) {
      out += replacement_character;
    } else if (length > 1) {
      out += whole;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      std::array<char, 8> hex{};
      std::snprintf(hex.data(), hex.size(), "\\u%04x", static_cast<unsigned>(c));
      out += hex.data();
    } else {
      out += c;
    }
  }
}

void quote(std::string& out, std::string_view s) {
  out += '"';
  escape(out, s);
  out += '"';
}

// Other values are quoted: those with a space, a quote, an equals sign, a backslash or a control
// character, and empty ones. So one event stays one line.
bool is_plain(std::string_view s) {
  for (const char c : s) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == '"' || c == '=' || c == '\\' || c == 0x7f)
      return false;
  }
  return !s.empty();
}

void pad(std::string& out, std::string_view s, size_t width) {
  out += s;
  out.append(s.size() < width ? width - s.size() : 0, ' ');
}

// "stream opened region=us-east-1"
void add_words(std::string& out, std::string_view message, const davit_pair* fields, size_t count) {
  escape(out, message);
  for (size_t i = 0; i < count; ++i) {
    out += ' ';
    out += view(fields[i].key);
    out += '=';
    const std::string_view value = view(fields[i].value);
    if (is_plain(value)) {
      escape(out, value);
    } else {
      quote(out, value);
    }
  }
}

std::string text_line(int64_t unix_ms, int32_t level, std::string_view instance,
                      std::string_view message, const davit_pair* fields, size_t count) {
  constexpr size_t level_width = 5, instance_width = 9;
  std::string out = timestamp(unix_ms) + " ";
  pad(out, word(level), level_width);
  out += ' ';
  pad(out, instance, instance_width);
  out += ' ';
  add_words(out, message, fields, count);
  return out + "\n";
}

std::string json_line(int64_t unix_ms, int32_t level, std::string_view instance,
                      std::string_view message, const davit_pair* fields, size_t count) {
  std::string out =
      "{\"time\":\"" + timestamp(unix_ms) + "\",\"level\":\"" + word(level) + "\",\"instance\":";
  quote(out, instance);
  out += ",\"message\":";
  quote(out, message);
  for (size_t i = 0; i < count; ++i) {
    out += ',';
    quote(out, view(fields[i].key));
    out += ':';
    quote(out, view(fields[i].value));
  }
  return out + "}\n";
}

void write_to_stderr(std::string_view line) {
  // One write per line keeps the lines of different threads apart. A line that cannot be written is
  // dropped.
  while (!line.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
    if (n <= 0) return;
    line.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

Log::Log() : write_(&write_to_stderr) {
  if (stderr_is_journal()) journal_ = std::make_unique<Journal>();
}
Log::Log(Write write) : write_(std::move(write)) {}
Log::~Log() = default;

void Log::set(int32_t level, Format format) {
  level_ = level;
  format_ = format;
}

std::string Log::render(Format format, int64_t unix_ms, int32_t level, std::string_view instance,
                        std::string_view message, const davit_pair* fields, size_t count) {
  return format == Format::json ? json_line(unix_ms, level, instance, message, fields, count)
                                : text_line(unix_ms, level, instance, message, fields, count);
}

void Log::write(int32_t level, std::string_view instance, std::string_view message,
                const davit_pair* fields, size_t count) {
  if (!enabled(level)) return;
  const Format format = format_;
  if (journal_ != nullptr && format == Format::automatic) {
    std::string words;
    add_words(words, message, fields, count);
    if (journal_->send(level, instance, words, fields, count)) return;
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t unix_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::string line = render(format, unix_ms, level, instance, message, fields, count);
  write_(journal_ == nullptr ? line : journal_prefix(level) + line);
}

void Log::fields(int32_t level, std::string_view instance, std::string_view message,
                 Fields fields) {
  if (!enabled(level)) return;
  std::vector<davit_pair> pairs;
  pairs.reserve(fields.size());
  for (const auto& [key, value] : fields) pairs.push_back({str(key), str(value)});
  write(level, instance, message, pairs.data(), pairs.size());
}

void Log::debug(std::string_view i, std::string_view m, Fields f) {
  fields(DAVIT_LOG_DEBUG, i, m, f);
}
void Log::info(std::string_view i, std::string_view m, Fields f) {
  fields(DAVIT_LOG_INFO, i, m, f);
}
void Log::warn(std::string_view i, std::string_view m, Fields f) {
  fields(DAVIT_LOG_WARN, i, m, f);
}
void Log::error(std::string_view i, std::string_view m, Fields f) {
  fields(DAVIT_LOG_ERROR, i, m, f);
}

}  // namespace davit::host
