#include "command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "help.hpp"
#include "streams.hpp"

namespace davit::secrets_file {
namespace {

// One command: how it is called, and what it does.
struct SealCommand {
  CLI::App* app;
  std::string usage;
  std::function<Result<>()> run;
  bool reads_input;  // a word too many may be a value, which is not shown
};

class SealProgram {
 public:
  SealProgram()
      : app_("davit-seal makes the keys and the sealed values of davit's secrets_file",
             "davit-seal") {
    app_.set_help_flag("-h,--help", "print this");
    app_.set_version_flag("--version", "davit-seal " DAVIT_VERSION, "print the version");
    app_.require_subcommand(0, 1);
    app_.allow_extras();
    add_keygen();
    add_public();
    add_encrypt();
    add_decrypt();
    add_reencrypt();
  }

  int run(std::vector<std::string> words);

 private:
  CLI::App& add(const std::string& name, const std::string& usage, const std::string& about,
                std::function<Result<>()> run, bool reads_input);
  void add_keygen();
  void add_public();
  void add_encrypt();
  void add_decrypt();
  void add_reencrypt();
  std::string program_help() const;
  const SealCommand* chosen() const;
  std::string problem(const SealCommand* command) const;
  int carry_out(const SealCommand& command) const;

  CLI::App app_;
  std::vector<SealCommand> commands_;
  KeygenOptions keygen_;
  PublicOptions public_;
  EncryptOptions encrypt_;
  DecryptOptions decrypt_;
  ReencryptOptions reencrypt_;
};

CLI::App& SealProgram::add(const std::string& name, const std::string& usage,
                           const std::string& about, std::function<Result<>()> run,
                           bool reads_input) {
  CLI::App* app = app_.add_subcommand(name, about);
  app->set_help_flag("-h,--help", "print this");
  app->option_defaults()->take_last();
  app->allow_extras();
  commands_.push_back({app, usage, std::move(run), reads_input});
  return *app;
}

void SealProgram::add_keygen() {
  auto& app = add(
      "keygen", "[-o FILE [--add]]",
      "make a key pair: the private key, which the agent needs, goes into a file of mode "
      "0600; the public key is printed",
      [this] { return keygen(keygen_); }, false);
  app.add_option(
         "-o,--output", keygen_.file,
         "the file, which must not exist; otherwise standard output, and the public key goes "
         "to standard error")
      ->type_name("FILE");
  app.add_flag("--add", keygen_.add,
               "add the key to FILE as its newest, for a rotation; the others go on decrypting");
  app.footer("davit-seal keygen -o agent.key\ndavit-seal keygen -o agent.key --add");
}

void SealProgram::add_public() {
  auto& app = add(
      "public", "FILE [--all]", "print the newest public key of a private key file",
      [this] { return show_public(public_); }, false);
  app.add_option("FILE", public_.file, "the private key file")->type_name("FILE")->required();
  app.add_flag("--all", public_.all, "print all of them, the newest last");
  app.footer("davit-seal public agent.key");
}

void SealProgram::add_encrypt() {
  auto& app = add(
      "encrypt", "--key PUBLIC [--keyring NAME] [--ref REF] [--trim]",
      "seal the value on standard input: base64 on standard output, that only the "
      "private key opens, and only for this keyring and ref",
      [this] { return encrypt(encrypt_); }, true);
  app.add_option("-k,--key", encrypt_.key, "the public key, or a file with it")
      ->type_name("PUBLIC")
      ->required();
  app.add_option("--keyring", encrypt_.keyring, "the keyring that the value is for")
      ->type_name("NAME");
  app.add_option("--ref", encrypt_.ref, "the value becomes the file REF of `directory`")
      ->type_name("REF");
  app.add_flag("--trim", encrypt_.trim, "leave out the line ends at the end of the value");
  app.footer(
      "printf %s \"$PASSWORD\" | davit-seal encrypt --key agent.pub --keyring prod\n"
      "davit-seal encrypt --key agent.pub --ref web/tls < tls.json > sealed/web/tls");
}

void SealProgram::add_decrypt() {
  auto& app = add(
      "decrypt", "--key FILE [--keyring NAME] [--ref REF]",
      "open the sealed value on standard input, to check it", [this] { return decrypt(decrypt_); },
      true);
  app.add_option("-k,--key", decrypt_.key_file, "the private key file")
      ->type_name("FILE")
      ->required();
  app.add_option("--keyring", decrypt_.keyring, "refuse a value that is not for this keyring")
      ->type_name("NAME");
  app.add_option("--ref", decrypt_.ref, "refuse a value that is not for this ref")
      ->type_name("REF");
  app.footer("davit-seal decrypt --key agent.key --keyring prod < password.sealed");
}

void SealProgram::add_reencrypt() {
  auto& app = add(
      "reencrypt", "--key FILE",
      "seal the sealed value on standard input anew, for the newest key of the file, and "
      "for the same keyring and ref",
      [this] { return reencrypt(reencrypt_); }, true);
  app.add_option("-k,--key", reencrypt_.key_file, "the private key file")
      ->type_name("FILE")
      ->required();
  app.footer("davit-seal reencrypt --key agent.key < old > new");
}

std::string SealProgram::program_help() const {
  std::vector<HelpRow> rows;
  for (const SealCommand& command : commands_)
    rows.push_back({"davit-seal " + command.app->get_name(), command.app->get_description()});
  rows.push_back({"davit-seal --version", "print the version"});
  std::string out = app_.get_description() + "\n\n" + two_columns(rows) +
                    "\nKeys and values never stand on the command line, apart from public keys.\n"
                    "davit-seal(1) has more.\n\nexit codes:\n";
  for (const auto& [code, means] : seal_exit_meanings())
    out += "  " + std::to_string(code) + "  " + means + "\n";
  return out;
}

const SealCommand* SealProgram::chosen() const {
  const auto at = std::find_if(commands_.begin(), commands_.end(),
                               [](const SealCommand& command) { return command.app->parsed(); });
  return at == commands_.end() ? nullptr : &*at;
}

// CLI11 takes the next word as the value of "--keyring=".
std::vector<std::string> with_empty_values(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      out.push_back(word.substr(0, word.size() - 1));
      out.emplace_back();
    } else {
      out.push_back(word);
    }
  }
  return out;
}

// What CLI11 has found.
std::string in_our_words(const CLI::ParseError& error) {
  const std::string text = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch))
    return "option " + text.substr(0, text.find(':')) + " needs a value";
  return text;
}

// What is wrong with words that CLI11 has taken for none of its own. Empty: nothing.
std::string SealProgram::problem(const SealCommand* command) const {
  const auto words = command == nullptr ? app_.remaining() : command->app->remaining();
  if (words.empty()) return "";
  const std::string& word = words.front();
  if (word.size() > 1 && word.front() == '-')
    return "unknown option " + word.substr(0, word.find('='));
  if (command == nullptr) return "no command \"" + word + "\"; see davit-seal --help";
  if (command->reads_input)
    return "one word too many: the value comes on standard input, where nobody else sees it";
  return "unexpected \"" + word + "\"";
}

int SealProgram::carry_out(const SealCommand& command) const {
  const auto done = command.run();
  if (done.ok()) return seal_exit_done;
  note(command.app->get_name(), done.error().message);
  return seal_exit_of(done.error().code);
}

int SealProgram::run(std::vector<std::string> words) {
  if (words.empty()) {
    std::fputs(program_help().c_str(), stderr);
    return seal_exit_usage;
  }
  std::string wrong;
  words = with_empty_values(words);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
  try {
    app_.parse(std::move(words));
  } catch (const CLI::CallForVersion& version) {
    return print(std::string(version.what()) + "\n");
  } catch (const CLI::CallForHelp&) {
    const SealCommand* command = chosen();
    if (command == nullptr) return print(program_help());
    return print(command_help(*command->app, command->usage));
  } catch (const CLI::ParseError& error) {
    wrong = in_our_words(error);
  }
  const SealCommand* command = chosen();
  if (const std::string other = problem(command); !other.empty()) wrong = other;
  if (wrong.empty() && command == nullptr) wrong = "what? see davit-seal --help";
  if (wrong.empty()) return carry_out(*command);
  if (command == nullptr) {
    std::fprintf(stderr, "davit-seal: %s\n", wrong.c_str());
  } else {
    std::fprintf(stderr, "davit-seal %s: %s (usage: davit-seal %s %s)\n",
                 command->app->get_name().c_str(), wrong.c_str(), command->app->get_name().c_str(),
                 command->usage.c_str());
  }
  return seal_exit_usage;
}

}  // namespace

int run_seal(std::vector<std::string> words) {
  return SealProgram().run(std::move(words));
}

}  // namespace davit::secrets_file
