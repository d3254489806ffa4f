#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <numeric>

namespace davit::conformance {
namespace {

struct Flag {
  std::string name;
  std::string value;  // what stands for the value in the help; empty: the flag has none
  std::string says;
  std::function<std::optional<std::string>(Arguments&, const std::string&)> take;  // what is wrong
};

using Wrong = std::optional<std::string>;

template <class Number>
Wrong number_in(const std::string& text, Number least, Number most, Number& out) {
  Number found{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (error != std::errc{} || end != text.data() + text.size() || found < least || found > most)
    return "needs a number from " + std::to_string(least) + " to " + std::to_string(most) +
           ", not \"" + text + "\"";
  out = found;
  return std::nullopt;
}

Wrong take_seed(Arguments& a, const std::string& text) {
  uint64_t seed = 0;
  auto wrong = number_in<uint64_t>(text, 0, UINT64_MAX, seed);
  a.seed = seed;
  return wrong;
}
Wrong take_timeout(Arguments& a, const std::string& text) {
  int64_t seconds = 0;
  auto wrong = number_in<int64_t>(text, 0, 86'400, seconds);
  a.timeout = std::chrono::seconds(seconds);
  return wrong;
}
Wrong take_jobs(Arguments& a, const std::string& text) {
  return number_in(text, 1u, 256u, a.jobs);
}
Wrong take_repeat(Arguments& a, const std::string& text) {
  return number_in(text, 1u, 1'000'000u, a.repeat);
}
Wrong take_filter(Arguments& a, const std::string& text) {
  a.filter = text;
  return std::nullopt;
}

const std::vector<Flag>& flags() {
  static const std::vector<Flag> all = {
      {"--config", "FILE",
       "the instance's settings, one `key = value` a line. $TMP in a value is a folder\n"
       "that each test gets anew, and $HERE the folder of FILE. Keys that begin with\n"
       "`conformance.` are for the suites",
       [](Arguments& a, const std::string& v) -> Wrong {
         a.config = v;
         return std::nullopt;
       }},
      {"--filter", "PATTERN",
       "runs the tests whose names match, as in 'Storage.S7_*:Plugin.*-*.Slow'", &take_filter},
      {"--list", "", "names the tests of this plugin and ends",
       [](Arguments& a, const std::string&) -> Wrong {
         a.list = true;
         return std::nullopt;
       }},
      {"--timeout", "SECONDS",
       "a test that takes longer is killed and has failed (120; 0: no limit). The time\n"
       "of torture tests, DAVIT_TORTURE_SECONDS, is added",
       &take_timeout},
      {"--jobs", "N", "tests that run at once, each in a process of its own (1)", &take_jobs},
      {"--seed", "N", "repeats the random numbers of the run that has printed it", &take_seed},
      {"--repeat", "N", "runs all tests N times, each time with other random numbers",
       &take_repeat},
      {"--in-process", "",
       "runs the tests in this process, for a debugger: no time limit, and a crash ends\n"
       "the run. Only here other flags of GoogleTest (--gtest_...) work, too",
       [](Arguments& a, const std::string&) -> Wrong {
         a.in_process = true;
         return std::nullopt;
       }},
      {"--help", "", "prints this", [](Arguments& a, const std::string&) -> Wrong {
         a.help = true;
         return std::nullopt;
       }}};
  return all;
}

// GoogleTest's names of our flags.
std::string own_name(const std::string& flag) {
  if (flag == "--gtest_filter") return "--filter";
  if (flag == "--gtest_list_tests") return "--list";
  if (flag == "--gtest_repeat") return "--repeat";
  return flag == "-h" ? "--help" : flag;
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

Error unknown(const std::string& flag) {
  std::string nearest;
  size_t least = flag.size() / 2;  // further away it is a guess
  for (const Flag& known : flags()) {
    const bool begins = flag.size() > 3 && known.name.starts_with(flag);
    const size_t far = begins ? 0 : distance(flag, known.name);
    if (far < least) least = far, nearest = known.name;
  }
  const std::string meant = nearest.empty() ? "; --help lists the flags" : "; " + nearest + "?";
  return {Code::invalid_argument, "unknown flag " + flag + meant, flag};
}

Error wrong(const std::string& what) {
  return {Code::invalid_argument, what};
}

// Takes the flag at words[at], and its value when that is the next word.
Result<> take_flag(Arguments& out, const std::vector<std::string>& words, size_t& at) {
  const std::string& word = words[at];
  const size_t equals = word.find('=');
  const std::string name = own_name(word.substr(0, equals));
  const auto found = std::find_if(flags().begin(), flags().end(),
                                  [&](const Flag& known) { return known.name == name; });
  if (found == flags().end()) {
    if (!name.starts_with("--gtest_")) return unknown(name);
    out.gtest.push_back(word);
    return {};
  }
  std::string value;
  if (found->value.empty()) {
    if (equals != std::string::npos) return wrong(name + " takes no value");
  } else if (equals != std::string::npos) {
    value = word.substr(equals + 1);
  } else if (at + 1 < words.size()) {
    value = words[++at];
  } else {
    return wrong(name + " needs a value: " + name + " " + found->value);
  }
  if (auto fault = found->take(out, value)) return wrong(name + " " + *fault);
  return {};
}

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  }
  if (name.empty() || (pattern.front() != '?' && pattern.front() != name.front())) return false;
  return matches(pattern.substr(1), name.substr(1));
}

bool matches_one(std::string_view patterns, std::string_view name) {
  while (true) {
    const size_t end = patterns.find(':');
    if (matches(patterns.substr(0, end), name)) return true;
    if (end == std::string_view::npos) return false;
    patterns.remove_prefix(end + 1);
  }
}

}  // namespace

Result<Arguments> parse_arguments(const std::vector<std::string>& words) {
  Arguments out;
  std::vector<std::string> names;
  for (size_t at = 0; at < words.size(); ++at) {
    if (words[at] == "--child" && at + 1 < words.size()) {
      out.child = words[++at];
    } else if (words[at].size() < 2 || words[at].front() != '-') {
      names.push_back(words[at]);
    } else if (auto taken = take_flag(out, words, at); !taken.ok()) {
      return taken.error();
    }
  }
  if (out.help) return out;
  if (!out.gtest.empty() && !out.in_process)
    return wrong(out.gtest.front() + " works only with --in-process");
  if (names.empty()) return wrong("no plugin is named");
  out.plugin = names.back();
  names.pop_back();
  if (out.child.empty() && !names.empty())
    return wrong("two plugins are named: " + names.front() + " and " + out.plugin);
  out.child_arguments = std::move(names);
  return out;
}

std::string help_text() {
  std::string out =
      "usage: davit-conformance [flags] plugin.so\n\n"
      "Runs the suites of every role that the plugin's note names. Each test runs in a process of\n"
      "its own; one that dies, hangs or ends without a verdict has failed.\n\n";
  for (const Flag& flag : flags()) {
    const std::string left = "  " + flag.name + (flag.value.empty() ? "" : " " + flag.value);
    std::string right = flag.says;
    for (size_t at = 0; (at = right.find('\n', at)) != std::string::npos; at += 22)
      right.replace(at, 1, "\n" + std::string(21, ' '));
    out += left + std::string(21 - std::min<size_t>(left.size(), 20), ' ') + right + "\n";
  }
  return out +
         "\nplugin.so is what davit_add_plugin() has built. Exit code: 0 when all tests hold, 1 "
         "when\n"
         "one failed, 2 when none could run, 130 when the run was interrupted.\n";
}

bool selects(std::string_view filter, std::string_view test) {
  const size_t dash = filter.find('-');
  const std::string_view wanted = filter.substr(0, dash);
  if (!wanted.empty() && !matches_one(wanted, test)) return false;
  return dash == std::string_view::npos || !matches_one(filter.substr(dash + 1), test);
}

}  // namespace davit::conformance
