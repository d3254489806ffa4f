#include "answer.hpp"

#include <atomic>
#include <string_view>

#include <davit/wiped.hpp>

#include "wire/fields.hpp"

namespace davit::secrets_blob {
namespace {

constexpr uint32_t variables_field = 1, name_field = 1, value_field = 2;

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
    wire::put_head(out, variables_field,
                   wire::field_size(name_field, name) + wire::field_size(value_field, value));
    wire::put_field(out, name_field, name);
    wire::put_field(out, value_field, value);
  }
  return Buffer(&(new WipedBuffer(std::move(out)))->abi);
}

}  // namespace davit::secrets_blob
