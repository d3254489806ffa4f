// Small files that are there as a whole or not at all, also after a loss of power, and that only
// their owner may read: tokens, and notes about them. Blocks on the disk. Other errors than those
// that are named are UNAVAILABLE; all name the path.
#pragma once

#include <string>

#include <davit/types.hpp>

namespace davit::host {

// Whether there is anything of this name.
bool is_there(const std::string& path);
// Writes a new file with mode 0600 in place of what is there. It is on the disk afterwards, its
// name only after sync_folder.
Result<> write_private_file(const std::string& path, const std::string& text);
// Writes a new file with mode 0600, which is there as a whole or not at all. ALREADY_EXISTS: there
// is something of this name.
Result<> place_private_file(const std::string& path, const std::string& text);
// Gives a written file its name, in place of what is there. It keeps no other, also on an error.
Result<> name_file(const std::string& made, const std::string& path);
// Gives a written file its name unless there is something of it already: false. It keeps no other.
Result<bool> name_file_once(const std::string& made, const std::string& path);
// Removes a file; one that is not there is no error.
Result<> remove_file(const std::string& path);
// Puts the names of a folder on the disk.
Result<> sync_folder(const std::string& path);
// The same error for another call that has failed with this errno.
Error disk_error(const std::string& path, int number);

}  // namespace davit::host
