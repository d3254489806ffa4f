#include "command_words.hpp"

namespace davit::host {

namespace {

using Words = std::vector<std::string>;

bool is_option(const std::string& word) {
  return word.size() > 1 && word.front() == '-' && word != "--";
}

// "-r" of "-reu", "--region" of "--region=eu".
std::string name_of(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

// The words that stand for this one, which is an option. CLI11 takes "=yaml" for the value in
// "-o=yaml", and the next word in "--region=", which may be "--dry-run".
Words written_out(const Command& davit, std::string word) {
  if (!word.starts_with("--") && word.size() > 2 && word[2] == '=') {
    const CLI::Option* option = option_below(davit, name_of(word));
    if (option != nullptr && !option->get_lnames().empty())
      word = "--" + option->get_lnames().front() + word.substr(2);
  }
  if (word.starts_with("--") && word.find('=') == word.size() - 1)
    return {word.substr(0, word.size() - 1), ""};
  return {word};
}

// CLI11 takes the options of a command after its name. Those in front go behind the names of the
// command and its verb. An unknown option leaves all as it is: it may have a value or none.
Words with_the_command_first(const Command& davit, const Words& words) {
  Words own;
  Words moved;
  size_t at = 0;
  for (; at < words.size() && is_option(words[at]); ++at) {
    if (davit.get_option_no_throw(name_of(words[at])) != nullptr) {
      own.push_back(words[at]);
      continue;
    }
    if (option_below(davit, name_of(words[at])) == nullptr) return words;
    moved.push_back(words[at]);
    if (option_that_waits(davit, words[at]) != nullptr && at + 1 < words.size())
      moved.push_back(words[++at]);
  }
  if (moved.empty() || at == words.size()) return words;
  Words out = std::move(own);
  const Command* command = davit.find(words[at]);
  out.push_back(words[at++]);  // if it is no command, it is refused
  for (; command != nullptr && at < words.size() && command->find(words[at]); ++at) {
    command = command->find(words[at]);
    out.push_back(words[at]);
  }
  out.insert(out.end(), moved.begin(), moved.end());
  out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return out;
}

}  // namespace

const CLI::Option* option_below(const Command& davit, const std::string& name) {
  for (const Command* command : davit.commands()) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->nonpositional() && option->check_name(name)) return option;
    }
    if (const CLI::Option* option = option_below(*command, name); option != nullptr) return option;
  }
  return nullptr;
}

const CLI::Option* option_that_waits(const Command& davit, const std::string& word) {
  if (name_of(word) != word) return nullptr;
  const CLI::Option* option = option_below(davit, word);
  return option != nullptr && option->get_expected_max() > 0 ? option : nullptr;
}

Words words_for_cli11(const Command& davit, const Words& words) {
  Words out;
  bool options = true;
  for (const std::string& word : words) {
    options = options && word != "--";
    if (options && is_option(word)) {
      for (const std::string& one : written_out(davit, word)) out.push_back(one);
    } else {
      out.push_back(word);
    }
  }
  return with_the_command_first(davit, out);
}

}  // namespace davit::host
