#include "completion.hpp"

#include <cstdio>
#include <functional>
#include <set>

#include "command_words.hpp"
#include "completion_records.hpp"
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

constexpr const char* fish_script = R"(function __davit_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l files no
  for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
    if test "$line" = :files
      set files yes
    else
      echo $line
    end
  end
  if test $files = yes
    __fish_complete_path (commandline -ct)
  end
end
complete -c davit -f -a '(__davit_complete)'
)";

const std::vector<std::pair<std::string, const char*>>& scripts() {
  static const std::vector<std::pair<std::string, const char*>> out{
      {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
  return out;
}

class Completer {
 public:
  explicit Completer(const Command& davit) : davit_(&davit), at_(&davit) {}

  // A word before the one to complete.
  void pass(const std::string& word) {
    if (value_of_ != nullptr) {
      note_value(*value_of_, word);
      value_of_ = nullptr;
    } else if (!only_words_ && word == "--") {
      only_words_ = true;
    } else if (!only_words_ && word.size() > 1 && word.front() == '-') {
      value_of_ = option_that_waits(word);
      note_joined(word);
    } else if (const Command* below = at_->find(word); below != nullptr) {
      at_ = below;
    } else {
      if (words_++ == 0) first_word_ = word;
    }
  }

  Completion complete(const std::string& typed) {
    typed_ = out_.typed = typed;
    out_.region = out_.options.contains("region") ? out_.options["region"] : "";
    if (value_of_ != nullptr) {
      add_values(*value_of_);
    } else if (!only_words_ && typed.starts_with('-')) {
      for (const CLI::Option* option : at_->all_options()) {
        if (option->get_group().empty()) continue;
        for (const std::string& name : option->get_lnames())
          add("--" + name, option->get_description());
      }
      if (at_ == davit_) add_options_of_commands();
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
  // Any option may stand before its command, where it means the same in all of them.
  void add_options_of_commands() {
    std::set<std::string> known;
    const std::function<void(const Command&)> add_below = [&](const Command& above) {
      for (const Command* below : above.commands()) {
        for (const CLI::Option* option : below->get_options()) {
          for (const std::string& name : option->get_lnames()) {
            if (name != "help" && known.insert(name).second)
              add("--" + name, option->get_description());
          }
        }
        add_below(*below);
      }
    };
    add_below(*davit_);
  }
  void note_value(const CLI::Option& option, const std::string& value) {
    for (const std::string& name : option.get_lnames()) out_.options[name] = value;
  }
  // "--region=eu", "-r=eu" and "-reu".
  void note_joined(const std::string& word) {
    const bool long_name = word.starts_with("--");
    const size_t equals = word.find('=');
    const size_t end = long_name || equals == 2 ? equals : 2;
    if (end >= word.size()) return;
    const CLI::Option* option = option_that_waits(word.substr(0, end));
    if (option != nullptr) note_value(*option, word.substr(word[end] == '=' ? end + 1 : end));
  }
  void add_records(const std::string& value) {
    const bool pairs = (words_ == 0 ? typed_ : first_word_).find('/') != std::string::npos;
    if (value == "R" || value == "REGION") out_.records = Completion::Records::regions;
    if (value == "KIND" || value == "ID") {
      out_.records = pairs || words_ > 0 ? Completion::Records::ids : Completion::Records::kinds;
      out_.pairs = pairs;
      out_.kind = pairs ? typed_.substr(0, typed_.find('/')) : first_word_;
    }
  }
  void add_values(const CLI::Option& option) {
    const std::string value = option.get_type_name();
    add_records(value);
    const bool alternatives = value.find('|') != std::string::npos;
    for (size_t begin = 0; begin <= value.size();) {
      const size_t end = std::min(value.find('|', begin), value.size());
      const std::string one = value.substr(begin, end - begin);
      if (one == "FILE" || one == "DIR" || one == "CONFIG") {
        out_.files = true;
      } else if (alternatives) {
        add(one, "");
      }
      begin = end + 1;
    }
  }
  // The option whose value comes next: of the command, or of one that is still to be named.
  const CLI::Option* option_that_waits(const std::string& word) const {
    for (const CLI::Option* option : at_->all_options()) {
      if (option->check_name(word)) return option->get_expected_max() > 0 ? option : nullptr;
    }
    return host::option_that_waits(*davit_, word);
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

  const Command* davit_;
  const Command* at_;
  size_t words_ = 0;  // how many of its positional words have passed
  std::string first_word_;
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
  auto command =
      std::make_shared<Command>("completion", "bash|zsh|fish",
                                "print a script that completes davit's words in a shell", [shell] {
                                  for (const auto& [name, script] : scripts()) {
                                    if (*shell != name) continue;
                                    std::fputs(script, stdout);
                                    return exit_code_done;
                                  }
                                  throw UsageError("which shell? (bash, zsh or fish)");
                                });
  command->word("SHELL", *shell, "bash, zsh or fish")->type_name("bash|zsh|fish");
  command->examples({"source <(davit completion bash)", "source <(davit completion zsh)",
                     "davit completion fish | source"});
  return command;
}

CommandPtr complete_command(const Command& davit) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto command = std::make_shared<Command>("__complete", "-- WORD...",
                                           "what the last word can become", [&davit, words] {
                                             Completion found = complete(davit, *words);
                                             add_known_records(found);
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
