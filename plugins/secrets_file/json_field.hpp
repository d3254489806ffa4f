// One field of a plaintext that is a JSON object. The text is read as a stream of events: no value
// of it, whatever its field, is copied into memory that is not wiped.
#pragma once

#include "locked_bytes.hpp"

#include "davit/types.hpp"

namespace davit::secrets_file {

// The value of the field: a text as it is meant, a number, true or false as they are written.
// NOT_FOUND: there is no such field, or the plaintext is no object. INVALID_ARGUMENT: the field has
// null, an object or an array, or is there twice. Errors show neither the field nor the plaintext.
Result<LockedBytes> json_field(std::string_view plaintext, std::string_view field);

}  // namespace davit::secrets_file
