#include "answer.hpp"

#include <atomic>
#include <string_view>

#include <davit/wiped.hpp>

namespace davit::secrets_blob {
namespace {

// Of the wire: fields 1 and 2, each with a length before its content.
constexpr char field_1 = 0x0a, field_2 = 0x12;

void append_number(Wiped& out, size_t n) {
  for (; n >= 0x80; n >>= 7) {
    const char byte = static_cast<char>(n | 0x80);
    out.append({&byte, 1});
  }
  const char last = static_cast<char>(n);
  out.append({&last, 1});
}

size_t number_size(size_t n) {
  size_t size = 1;
  for (; n >= 0x80; n >>= 7) ++size;
  return size;
}

void append_field(Wiped& out, char field, std::string_view content) {
  out.append({&field, 1});
  append_number(out, content.size());
  out.append(content);
}

struct WipedBuffer {
  davit_buf abi{};  // first: the ABI sees a pointer to it
  Wiped bytes;
  std::atomic<uint32_t> references{0};

  explicit WipedBuffer(Wiped b) : bytes(std::move(b)) {
    abi.struct_size = sizeof abi;
    abi.data = reinterpret_cast<const uint8_t*>(bytes.view().data());
    abi.size = bytes.size();
    abi.retain = [](davit_buf* self) {
      reinterpret_cast<WipedBuffer*>(self)->references.fetch_add(1, std::memory_order_relaxed);
    };
    abi.release = [](davit_buf* self) {
      auto* mine = reinterpret_cast<WipedBuffer*>(self);
      if (mine->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete mine;
    };
  }
};

}  // namespace

Buffer encode_answer(const std::vector<Variable>& variables, const secrets::Results& values) {
  Wiped out;
  for (size_t n = 0; n < variables.size(); ++n) {
    const std::string_view name = variables[n].name, value = values[n]->secret.view();
    const auto size = [](std::string_view text) {
      return 1 + number_size(text.size()) + text.size();
    };
    out.append({&field_1, 1});
    append_number(out, size(name) + size(value));
    append_field(out, field_1, name);
    append_field(out, field_2, value);
  }
  return Buffer(&(new WipedBuffer(std::move(out)))->abi);
}

}  // namespace davit::secrets_blob
