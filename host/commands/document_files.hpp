// Which files `-f` means: a folder stands for the documents in it.
#pragma once

#include <string>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

// The file itself, or the *.yaml, *.yml and *.json files of a folder, sorted by path. With
// `subfolders` those of its subfolders, too. As with kubectl, links to files are files, and links
// to folders are left out, so that no loop is followed and no file is read twice.
// INVALID_ARGUMENT: the folder has no such file, or cannot be read.
Result<std::vector<std::string>> document_files(const std::string& path, bool subfolders);

}  // namespace davit::host
