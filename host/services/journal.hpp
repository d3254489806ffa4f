// The journal of systemd, when standard error is connected to it. Each event of the log becomes one
// entry with fields, by the journal's native protocol: `journalctl DAVIT_INSTANCE=streamer`. The
// few lines here stand in for libsystemd, which would bring five libraries into a small host that
// also runs in containers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <davit/abi/services.h>

namespace davit::host {

// Whether standard error is the journal's ($JOURNAL_STREAM).
bool stderr_is_journal();
// What lines on standard error begin with, so that the journal knows their priority: "<3>". Empty:
// standard error is not the journal's.
std::string journal_prefix(int32_t level);

class Journal {
 public:
  Journal();
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Sends one entry. `text` is what people read. False: the journal did not take it. Write a line
  // to standard error then, which takes longer ones. [any]
  bool send(int32_t level, std::string_view instance, std::string_view text,
            const davit_pair* fields, size_t fields_count) const;

  // The datagram of one entry, for tests. A field `region` is named DAVIT_REGION.
  static std::string entry(int32_t level, std::string_view instance, std::string_view text,
                           const davit_pair* fields, size_t fields_count);

 private:
  int socket_ = -1;
};

}  // namespace davit::host
