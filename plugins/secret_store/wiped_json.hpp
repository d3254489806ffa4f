// WipedJson: a text of JSON that has secrets, taken apart in memory that is overwritten when this
// object ends, and that no core dump has.
#pragma once

#include <boost/json.hpp>
#include <string_view>

namespace davit::secret_store {

class WipedJson {
 public:
  explicit WipedJson(std::string_view text);
  WipedJson(const WipedJson&) = delete;
  WipedJson& operator=(const WipedJson&) = delete;

  // Borrowed from this object. NULL: the text is no JSON, or no object.
  const boost::json::object* object() const { return object_; }

 private:
  class Pages final : public boost::json::memory_resource {
    void* do_allocate(size_t bytes, size_t alignment) override;
    void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
    bool do_is_equal(const boost::json::memory_resource& o) const noexcept override {
      return this == &o;
    }
  };

  Pages pages_;
  boost::json::monotonic_resource memory_;
  boost::json::value value_;
  const boost::json::object* object_ = nullptr;
};

// Members that may be absent or of another type: NULL, or empty.
const boost::json::object* object_in(const boost::json::object* in, std::string_view name);
const boost::json::array* array_in(const boost::json::object* in, std::string_view name);
// Borrowed from the object.
std::string_view text_in(const boost::json::object* in, std::string_view name);

}  // namespace davit::secret_store
