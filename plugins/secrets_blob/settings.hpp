// What the configuration says of the service: whom it asks, and how much of everything one caller
// may have.
#pragma once

#include <davit/settings.hpp>

#include "review_pace.hpp"

namespace davit::secrets_blob {

struct BlobSettings {
  // Reads the settings and rejects what is wrong. Only in the plugin's constructor.
  static BlobSettings read(const Host& host);

  std::string cluster, secrets;  // instances
  std::vector<std::string> audiences;
  std::string label_prefix;
  std::chrono::milliseconds timeout{}, refused_for{};
  size_t blob_bytes_max = 0, token_bytes_max = 0, variables_max = 0;
  size_t calls_max = 0, calls_per_address_max = 0, calls_per_namespace_max = 0;
  ReviewPace::Limits reviews;

  // Of a whole request, in each of its forms: JSON has the blob in base64.
  uint32_t request_bytes_max() const;
};

}  // namespace davit::secrets_blob
