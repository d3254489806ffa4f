#include "completion.hpp"

#include <cstdio>

#include "exit_codes.hpp"

namespace davit::host {

namespace {

// Each line of __complete is a word, a tab and what it is for; or ":files".
constexpr const char* bash_script = R"(_davit() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o default ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _davit davit
)";

constexpr const char* zsh_script = R"(#compdef davit
_davit() {
  local line
  local -a candidates
  for line in "${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :files) _files ;;
      ?*) candidates+=("${line/$'\t'/:}") ;;
    esac
  done
  (( $#candidates )) && _describe davit candidates
}
compdef _davit davit
)";

class Completer {
 public:
  explicit Completer(const Command& davit) : at_(&davit) {}

  // A word before the one to complete.
  void pass(const std::string& word) {
    if (value_of_ != nullptr) {
      value_of_ = nullptr;
    } else if (!only_words_ && word == "--") {
      only_words_ = true;
    } else if (!only_words_ && word.size() > 1 && word.front() == '-') {
      value_of_ = option_that_waits(word);
    } else if (const Command* below = at_->find(word); below != nullptr) {
      at_ = below;
    } else {
      ++words_;
    }
  }

  Completion complete(const std::string& typed) {
    typed_ = typed;
    if (value_of_ != nullptr) {
      add_values(*value_of_);
    } else if (!only_words_ && typed.starts_with('-')) {
      for (const CLI::Option* option : at_->all_options()) {
        for (const std::string& name : option->get_lnames())
          add("--" + name, option->get_description());
      }
    } else {
      for (const Command* below : at_->commands()) add(below->get_name(), below->get_description());
      if (const CLI::Option* word = word_here(); word != nullptr) add_values(*word);
    }
    return out_;
  }

 private:
  void add(const std::string& word, const std::string& about) {
    if (word.starts_with(typed_)) out_.candidates.push_back({word, about});
  }
  void add_values(const CLI::Option& option) {
    const std::string value = option.get_type_name();
    if (value == "FILE" || value == "DIR" || value == "CONFIG") out_.files = true;
    if (value.find('|') == std::string::npos) return;
    for (size_t begin = 0; begin <= value.size();) {
      const size_t end = std::min(value.find('|', begin), value.size());
      add(value.substr(begin, end - begin), "");
      begin = end + 1;
    }
  }
  // The option whose value comes next: "-r" and "--region", but not "-reu" or "--region=eu".
  const CLI::Option* option_that_waits(const std::string& word) const {
    for (const CLI::Option* option : at_->all_options()) {
      if (option->get_expected_max() > 0 && option->check_name(word)) return option;
    }
    return nullptr;
  }
  const CLI::Option* word_here() const {
    size_t n = words_;
    for (const CLI::Option* option : at_->get_options()) {
      if (!option->get_positional()) continue;
      if (n == 0 || option->get_expected_max() > 1) return option;
      --n;
    }
    return nullptr;
  }

  const Command* at_;
  size_t words_ = 0;  // how many of its positional words have passed
  bool only_words_ = false;
  const CLI::Option* value_of_ = nullptr;
  std::string typed_;
  Completion out_;
};

}  // namespace

Completion complete(const Command& davit, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  Completer completer(davit);
  for (size_t i = 0; i + 1 < words.size(); ++i) completer.pass(words[i]);
  return completer.complete(words.back());
}

CommandPtr completion_command() {
  auto shell = std::make_shared<std::string>();
  auto command = std::make_shared<Command>(
      "completion", "bash|zsh", "print a script that completes davit's words in a shell", [shell] {
        if (*shell != "bash" && *shell != "zsh") throw UsageError("which shell? (bash or zsh)");
        std::fputs(*shell == "bash" ? bash_script : zsh_script, stdout);
        return exit_code_done;
      });
  command->word("SHELL", *shell, "bash or zsh")->type_name("bash|zsh");
  command->examples({"source <(davit completion bash)", "source <(davit completion zsh)"});
  return command;
}

CommandPtr complete_command(const Command& davit) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto command = std::make_shared<Command>("__complete", "-- WORD...",
                                           "what the last word can become", [&davit, words] {
                                             const Completion found = complete(davit, *words);
                                             for (const auto& [word, about] : found.candidates)
                                               std::printf("%s\t%s\n", word.c_str(), about.c_str());
                                             if (found.files) std::puts(":files");
                                             return exit_code_done;
                                           });
  command->words("WORD", *words, "the words after davit");
  command->group("");
  return command;
}

}  // namespace davit::host
