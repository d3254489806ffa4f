/* The ELF note that the host reads before it loads a plugin. The definitions are strings:
 *
 *   cc ... -D 'DAVIT_PLUGIN_NAME="my_sink"' -D 'DAVIT_PLUGIN_VERSION="1.2.3"' \
 *     -D 'DAVIT_PLUGIN_ROLES="status_sink/1"' -D 'DAVIT_PLUGIN_NEEDS=""' plugin.c note.c
 *
 * abi/core.h says what they are. */
#include <davit/abi/core.h>

#if !defined(DAVIT_NOTE_OF_ANOTHER_SDK) && (DAVIT_ABI_MAJOR != 1 || DAVIT_ABI_MINOR < 1)
#error "this SDK does not have the ABI that the plugin names (ABI_MIN of davit_add_plugin)"
#endif

#if defined(__clang__)
/* It makes a note of every section with such a name; a sanitizer must not pad it. */
#define PLACE section(".note.davit"), no_sanitize("address")
#else
/* The compiler would call the section @progbits. What it appends to the name is a comment of the
 * assembler here. */
#if defined(__x86_64__) || defined(__i386__)
#define COMMENT "#"
#else
#define COMMENT "//"
#endif
#define PLACE section(".note.davit,\"a\",%note" COMMENT)
#endif
#define NOTE_TEXT \
  "abi=1.1\nname=" DAVIT_PLUGIN_NAME \
  "\nversion=" DAVIT_PLUGIN_VERSION "\nroles=" DAVIT_PLUGIN_ROLES \
  "\nneeds=" DAVIT_PLUGIN_NEEDS "\n"
static const struct {
  uint32_t owner_size, text_size, type;
  char owner[8];
  char text[sizeof NOTE_TEXT];
} note __attribute__((PLACE, used, aligned(4))) = {
    6, sizeof NOTE_TEXT, 1, "davit\0", NOTE_TEXT};
