// Batch: the items of one resolve, and how far they are. It says what the next call of the Vault
// asks for, takes what came of it, and at the end has one result an item.
//
// A protocol says which group an item belongs to, such as its keyring, and what is asked for there.
// One call has one group and at most so many values and bytes. The same item twice is asked for
// once. A Vault may refuse a whole call because of one bad item, so a call that was refused is
// divided into halves, until the bad item stands alone. Pure.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "cache.hpp"
#include "davit/secrets.hpp"

namespace davit::secret_store {

class Batch {
 public:
  struct Limits {
    size_t items_max = 100;
    size_t bytes_max = 1 << 20;  // of ciphertexts
  };
  // So many single items in a row were refused, and nothing was decrypted: no more are tried. A
  // Vault that refuses everything would be asked twice for each item otherwise.
  static constexpr size_t refusals_max = 16;

  // What is asked for because of an item: `text` in a call of `group`. `text` is borrowed from the
  // item.
  struct Asked {
    std::string group;
    std::string_view text;
  };
  // An error: no call can resolve the item.
  using Ask = std::function<Result<Asked>(const secrets::Item&)>;

  // One value to be asked for. The texts live as long as the batch.
  struct Wanted {
    std::string group;
    std::string_view text;
    ItemKey key;
  };
  // One call.
  struct Part {
    std::string_view group;
    std::vector<size_t> wanted;  // numbers of Wanted; never empty
  };

  // Items that no call can resolve have their error at once.
  Batch(std::vector<secrets::Item> items, Limits limits, const Ask& ask);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  const std::vector<Wanted>& wanted() const { return wanted_; }
  // This value is known already. Before the first next().
  void known(size_t wanted, Secret value, std::string version = {});

  // What to ask for now; NULL: nothing is left. The same part until one of the four below.
  const Part* next();
  // The part's values, in its order, and the version that all have. `errors` are for single items,
  // by their place. An item that has neither is answered INTERNAL.
  void decrypted(std::vector<std::optional<Secret>> values,
                 const std::map<size_t, Error>& errors = {}, const std::string& version = {});
  // The Vault refused the part, perhaps because of one item of it. `why` is for that item.
  // `certain`: the Vault says that it is the item, and not that something went wrong.
  void refused(Error why, bool certain);
  // Nothing of this group is to be had, or nothing at all.
  void fail_group(const Error& why);
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
    std::string version;
    std::optional<Error> error;
    bool blamed = false;
    bool open() const { return !value && !error; }
  };
  Result<size_t> find_or_add(const secrets::Item& item, const Ask& ask,
                             std::map<ItemKey, size_t>& known);
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

}  // namespace davit::secret_store
