#include "answer.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <set>

#include <davit/code_names.hpp>

#include "kubernetes/json_scan.hpp"

namespace davit::actuator_exec {
namespace {

namespace json = boost::json;

constexpr size_t answer_depth_max = 64, events_max = 100;
constexpr std::string_view word_wanted = "one word in UpperCamelCase";
constexpr double seconds_max = 86'400;
constexpr size_t word_max = 128, text_max = 1024;

// What the reading of one answer needs everywhere: which values people must not see, and the first
// fault.
class Reading {
 public:
  explicit Reading(const Covers& covers) : covers_(covers) {}

  // On one line, and not too long. Values are covered before a text is cut: a part of one is not
  // recognised any more.
  std::string for_people(std::string_view text, size_t bytes_max = text_max) const {
    return shortened(covers_.on_one_line(text), bytes_max);
  }
  std::string shown(std::string_view text) const { return "\"" + for_people(text, 60) + "\""; }
  void reject(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
  }
  const std::string& fault() const { return fault_; }

 private:
  const Covers& covers_;
  std::string fault_;
};

// The members of one object. A null counts as absent.
class Members {
 public:
  Members(const json::object& object, std::string path, Reading& reading)
      : object_(object), path_(std::move(path)), reading_(reading) {}

  void only(std::initializer_list<std::string_view> known) {
    for (const auto& member : object_) {
      const std::string_view name(member.key().data(), member.key().size());
      if (std::find(known.begin(), known.end(), name) == known.end())
        reading_.reject("has an unknown member " + reading_.shown(path_ + std::string(name)));
    }
  }
  const json::value* find(std::string_view name) const {
    const auto* value = object_.if_contains(json::string_view(name.data(), name.size()));
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  std::string text(std::string_view name) {
    const auto* value = find(name);
    if (value == nullptr) return {};
    if (value->is_string()) return {value->get_string().data(), value->get_string().size()};
    wrong(name, "a string");
    return {};
  }
  std::string needed(std::string_view name) {
    std::string out = text(name);
    if (out.empty()) wrong(name, "a string that is not empty");
    return out;
  }
  // A word such as "LoadBalancerCreated".
  std::string word(std::string_view name) {
    std::string out = text(name);
    const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const bool good = out.size() <= word_max && (out.empty() || upper(out[0])) &&
                      std::all_of(out.begin(), out.end(), [&](char c) {
                        return upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
                      });
    if (!good) wrong(name, word_wanted);
    return reading_.for_people(out);
  }
  std::chrono::milliseconds seconds(std::string_view name) {
    const auto* value = find(name);
    if (value == nullptr) return {};
    const double number = !value->is_number() ? -1 : value->to_number<double>();
    if (number >= 0 && number <= seconds_max)
      return std::chrono::milliseconds(static_cast<int64_t>(std::ceil(number * 1000)));
    wrong(name, "a number from 0 to 86400");
    return {};
  }
  const json::object* object(std::string_view name) {
    const auto* value = find(name);
    if (value == nullptr || value->is_object())
      return value == nullptr ? nullptr : &value->get_object();
    wrong(name, "an object");
    return nullptr;
  }
  const json::array* array(std::string_view name) {
    const auto* value = find(name);
    if (value == nullptr || value->is_array())
      return value == nullptr ? nullptr : &value->get_array();
    wrong(name, "an array");
    return nullptr;
  }
  // For people.
  std::string words(std::string_view name) { return reading_.for_people(text(name)); }
  std::string needed_words(std::string_view name) { return reading_.for_people(needed(name)); }
  void wrong(std::string_view name, std::string_view wanted) {
    reading_.reject("is wrong: " + path_ + std::string(name) + " must be " + std::string(wanted));
  }

 private:
  const json::object& object_;
  const std::string path_;
  Reading& reading_;
};

Error read_error(const json::object& object, std::string& reason, Reading& reading) {
  Members members(object, "error.", reading);
  members.only({"code", "message", "where", "reason", "retryAfterSeconds"});
  Error out;
  const std::string name = members.needed("code");
  const auto known = code_of_word(name);
  if (known && *known != Code::ok) {
    out.code = *known;
  } else {
    members.wrong("code",
                  "a code such as INVALID_ARGUMENT or UNAVAILABLE, not " + reading.shown(name));
  }
  out.message = members.needed_words("message");
  out.where = members.words("where");
  out.retry_after = members.seconds("retryAfterSeconds");
  reason = members.word("reason");
  return out;
}

std::vector<actuator::Event> read_events(const json::array& array, Reading& reading) {
  std::vector<actuator::Event> out;
  if (array.size() > events_max) reading.reject("has more than 100 events");
  for (size_t i = 0; i < array.size() && reading.fault().empty(); ++i) {
    const std::string path = "events[" + std::to_string(i) + "]";
    if (!array[i].is_object()) {
      reading.reject("is wrong: " + path + " must be an object");
      break;
    }
    Members members(array[i].get_object(), path + ".", reading);
    members.only({"type", "reason", "message"});
    const std::string type = members.needed("type");
    if (type != "Normal" && type != "Warning") members.wrong("type", "Normal or Warning");
    actuator::Event event{type == "Warning", members.word("reason"),
                          members.needed_words("message")};
    if (event.reason.empty()) members.wrong("reason", word_wanted);
    out.push_back(std::move(event));
  }
  return out;
}

// As it is written, so that no number changes.
std::string raw_patch(std::string_view output, Reading& reading) {
  std::string out;
  std::set<std::string_view> names;
  kubernetes::json_members(output, [&](std::string_view name, std::string_view value) {
    if (!names.insert(name).second)
      reading.reject("has the member " + reading.shown(name) + " twice");
    if (name.find('\\') != std::string_view::npos)
      reading.reject("has a member whose name is written with a backslash");
    if (name == "statusPatch" && value != "null") out = value;
  });
  return out;
}

Result<json::value> parse(std::string_view output, const Reading& reading) {
  const auto fault = [](std::string what) { return Error{Code::internal, std::move(what)}; };
  if (output.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return fault("it has written no answer");
  if (!valid_utf8(output)) return fault("its answer is no valid UTF-8");
  json::parse_options options;
  options.max_depth = answer_depth_max;
  json::error_code bad;
  json::stream_parser parser({}, options);
  const size_t used = parser.write_some(output.data(), output.size(), bad);
  if (!bad && !parser.done()) parser.finish(bad);
  if (bad) {
    return fault("its answer is no JSON (" + bad.message() + " behind byte " +
                 std::to_string(used) + ")");
  }
  const std::string_view rest = output.substr(used);
  if (const size_t more = rest.find_first_not_of(" \t\r\n"); more != std::string_view::npos) {
    return fault("its answer has " + reading.shown(rest.substr(more)) +
                 " behind its end; it must be one document and nothing else");
  }
  json::value value = parser.release();
  if (!value.is_object()) return fault("its answer is no JSON object");
  return value;
}

}  // namespace

Result<Answer> read_answer(std::string_view output, const Covers& covers) {
  Reading reading(covers);
  const auto value = parse(output, reading);
  if (!value.ok()) return value.error();
  Members members(value->get_object(), "", reading);
  members.only({"requeueAfterSeconds", "statusPatch", "progress", "events", "error"});
  Answer out;
  if (const auto* patch = members.object("statusPatch"))
    Members(*patch, "statusPatch.", reading).only({"apiEndpoints", "providerStatus"});
  out.outcome.status_patch = raw_patch(output, reading);
  out.outcome.requeue_after = members.seconds("requeueAfterSeconds");
  out.outcome.progress = members.words("progress");
  if (const auto* error = members.object("error"))
    out.outcome.error = read_error(*error, out.outcome.error_reason, reading);
  if (const auto* events = members.array("events")) out.events = read_events(*events, reading);
  if (!reading.fault().empty()) return Error{Code::internal, "its answer " + reading.fault()};
  return out;
}

}  // namespace davit::actuator_exec
