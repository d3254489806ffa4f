// Batch: the items of one resolve, and how far they are. It says what the next call of the Vault
// asks for, takes what came of it, and at the end has one result an item.
//
// One call has one keyring and at most so many values and bytes. The same item twice is asked for
// once. The Vault refuses a whole call because of one bad item, so a call that was refused is
// divided into halves, until the bad item stands alone. Pure.
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "cache.hpp"
#include "davit/secrets.hpp"

namespace davit::secrets_vault {

class Batch {
 public:
  struct Limits {
    size_t items_max = 100;
    size_t bytes_max = 1 << 20;  // of ciphertexts
  };
  // So many single items in a row were refused, and nothing was decrypted: no more are tried. A
  // Vault that refuses everything would be asked twice for each item otherwise.
  static constexpr size_t refusals_max = 16;

  // One value to be asked for. The texts live as long as the batch.
  struct Wanted {
    std::string_view keyring, ciphertext;
    ItemKey key;
  };
  // One call.
  struct Part {
    std::string_view keyring;
    std::vector<size_t> wanted;  // numbers of Wanted; never empty
  };

  // Items that no call can resolve have their error at once.
  Batch(std::vector<secrets::Item> items, Limits limits);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  const std::vector<Wanted>& wanted() const { return wanted_; }
  // This value is known already. Before the first next().
  void known(size_t wanted, Secret value);

  // What to ask for now; NULL: nothing is left. The same part until one of the four below.
  const Part* next();
  // The part's values, in its order. An item whose value is missing is answered INTERNAL.
  void decrypted(std::vector<std::optional<Secret>> values);
  // The Vault refused the part, perhaps because of one item of it. `why` is for that item.
  // `certain`: the Vault says that it is the item, and not that something went wrong.
  void refused(Error why, bool certain);
  // Nothing of this keyring is to be had, or nothing at all.
  void fail_keyring(const Error& why);
  void fail_all(const Error& why);

  // Items that were refused alone, without the Vault having said that it is their fault.
  std::vector<ItemKey> blamed() const;
  bool decrypted_any() const { return decrypted_any_; }
  // Answers the blamed with this instead.
  void acquit(const Error& why);

  // One result an item, in their order. What is open gets this error. Once.
  secrets::Results take_results(const Error& open);

 private:
  struct State {
    std::optional<Secret> value;
    std::optional<Error> error;
    bool blamed = false;
    bool open() const { return !value && !error; }
  };
  Result<size_t> find_or_add(const secrets::Item& item, std::map<ItemKey, size_t>& known);
  void plan();
  void fail(const Part& part, const Error& why);

  const std::vector<secrets::Item> items_;
  const Limits limits_;
  std::vector<Result<size_t>> item_wanted_;  // by item: its Wanted, or why there is none
  std::vector<Wanted> wanted_;
  std::vector<State> states_;  // by Wanted
  std::deque<Part> parts_;     // the first is asked for now
  bool planned_ = false;
  bool decrypted_any_ = false;
  size_t refusals_ = 0;  // of single items, since the last success
};

}  // namespace davit::secrets_vault
