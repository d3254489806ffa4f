#include "runner.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "answer.hpp"
#include "uid_lock.hpp"

namespace davit::actuator_exec {
namespace {

using process::End;

std::string name_of(const actuator::Call& call) {
  return call.ns + "/" + call.name;
}

// A program that ends with 0 has answered. How another one ends is its author's affair: a script
// that fails half way is tried again, and a program that is killed has a fault.
Error ending_error(const process::Ran& ran) {
  if (ran.end == End::not_started) {
    const bool interpreter = !ran.found;
    return {Code::failed_precondition,
            ran.failure + (interpreter ? " (the program, or what its first line names)" : ""),
            "command"};
  }
  return {WIFEXITED(ran.status) ? Code::unavailable : Code::internal, ran.failure};
}

Result<std::string> made(const std::string& folder) {
  std::error_code bad;
  std::filesystem::create_directories(folder, bad);
  if (bad) return Error{Code::failed_precondition, folder + ": " + bad.message()};
  return folder;
}

}  // namespace

Result<> Runner::check() {
  const std::string& name = settings_.command[0];
  program_ = process::find_program(name, path_of(settings_));
  const Error refused{Code::failed_precondition, "", "command"};
  const auto because = [&](const std::string& why) {
    Error out = refused;
    out.message = "the program \"" + name + "\" " + why;
    return out;
  };
  if (program_.empty()) return because("is not in " + path_of(settings_));
  struct stat found {};
  if (::stat(program_.c_str(), &found) != 0) return because("is not there");
  if (!S_ISREG(found.st_mode)) return because("is no file");
  if (::access(program_.c_str(), X_OK) != 0)
    return because("may not be run by this user (" + program_ + ")");
  directory_ = settings_.working_directory;
  if (!directory_.empty() && ::access(directory_.c_str(), X_OK) != 0) {
    return Error{Code::failed_precondition, "the folder " + directory_ + " cannot be entered",
                 "working_directory"};
  }
  auto environment = environment_of(settings_, host_);
  if (!environment.ok()) return environment.error();
  Environment::wipe(environment->entries);
  return {};
}

Result<> Runner::start() {
  if (auto checked = check(); !checked.ok()) return checked;
  const auto state = host_.state_directory(true);
  if (!state.ok()) return state.error();
  const auto locks = made(*state + "/locks");
  if (!locks.ok()) return locks.error();
  locks_ = *locks;
  if (!directory_.empty()) return {};
  const auto work = made(*state + "/work");
  if (!work.ok()) return work.error();
  directory_ = *work;
  return {};
}

process::Command Runner::command_of(const OpenCall& open, std::chrono::nanoseconds now) const {
  process::Command out;
  out.program = program_;
  out.args.assign(settings_.command.begin() + 1, settings_.command.end());
  out.directory = directory_;
  out.output_max = settings_.output_bytes_max;
  out.grace = settings_.kill_grace;
  out.no_grace = &no_grace_;
  out.end_whole_group = true;
  const auto left = std::chrono::floor<std::chrono::milliseconds>(open.deadline() - now);
  out.time_limit = std::clamp(left, std::chrono::milliseconds(1), settings_.timeout);
  out.input = request_of(open.call(), open.operation(), host_.unix_ms() + out.time_limit.count());
  return out;
}

void Runner::run(OpenCall& open) {
  if (stopping_) return open.fail(shutting_down());
  if (auto over = open.given_up(host_.now())) return open.fail(std::move(*over));
  auto lock = UidLock::take(locks_, open.call().uid);
  if (!lock.ok()) return open.fail(lock.error());
  auto environment = environment_of(settings_, host_);
  if (!environment.ok()) {
    lock->release();
    return open.fail(environment.error());
  }
  const Covers& covers = environment->covers;
  Said said(covers, [&](const std::string& line) {
    host_.debug("the program says", {{"cluster", name_of(open.call())}, {"line", line}});
  });
  process::Command command = command_of(open, host_.now());
  command.environment = std::move(environment->entries);
  command.kept_file = lock->fd();
  command.on_started = [&](int pid) { lock->note(pid); };
  command.on_errors = [&](std::string_view piece) { said.add(piece); };
  // Whoever gives up does not wait for the program's end.
  command.on_limit = [&](End end, const std::string& failure) {
    open.fail(limit_error(open, end, failure, said));
  };
  const process::Ran ran = process::run(command, open.stopper());
  Environment::wipe(command.environment);
  said.end();
  lock->release();
  if (!open.answered()) answer(open, ran, said, covers);
}

// Before the grace: the program may still run.
Error Runner::limit_error(const OpenCall& open, End end, const std::string& failure,
                          const Said& said) const {
  if (stopping_) return shutting_down();
  if (auto over = open.given_up(host_.now())) return std::move(*over);
  // The deadline is a moment later than the program's limit, which was rounded.
  if (end == End::time_limit && open.deadline() - host_.now() < std::chrono::milliseconds(2))
    return {Code::deadline_exceeded, "the deadline has passed"};
  const Code code = end == End::time_limit ? Code::unavailable : Code::internal;
  return with_words({code, failure}, said);
}

void Runner::answer(OpenCall& open, const process::Ran& ran, const Said& said,
                    const Covers& covers) const {
  if (auto over = open.given_up(host_.now())) return open.fail(std::move(*over));
  if (!ran.failure.empty()) return open.fail(with_words(ending_error(ran), said));
  const auto read = read_answer(ran.output.view(), covers);
  if (!read.ok()) return open.fail(with_words(read.error(), said));
  for (const auto& event : read->events) open.call().event(event);
  open.answer(read->outcome);
}

Error Runner::with_words(Error error, const Said& said) const {
  error = error.in("program \"" + std::filesystem::path(program_).filename().string() + "\"");
  if (const std::string words = said.last_words(); !words.empty())
    error.message += "; it says: " + words;
  return error;
}

}  // namespace davit::actuator_exec
