#include "commands/document_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "commands/documents.hpp"

namespace davit::host {
namespace {

namespace fs = std::filesystem;

class DocumentFiles : public testing::Test {
 protected:
  DocumentFiles() {
    std::string name = testing::TempDir() + "davit-files-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~DocumentFiles() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text = "") {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  // The files relative to the folder; or the error, with DIR for the folder.
  std::string found(const std::string& below = "", bool subfolders = false) {
    const auto files = document_files(folder_ / below, subfolders);
    std::string out;
    if (files.ok()) {
      for (const auto& file : *files)
        out += fs::path(file).lexically_relative(folder_).string() + " ";
      return out;
    }
    out = files.error().message;
    return out.replace(out.find(folder_), folder_.string().size(), "DIR");
  }

  fs::path folder_;
};

TEST_F(DocumentFiles, AFolderStandsForItsDocumentsInOrder) {
  for (const char* name : {"b.yml", "c.json", "a.yaml", "README.md", "yaml", "sub/d.yaml",
                           "sub/deep/e.json", "a/z.yaml"})
    write(name);
  EXPECT_EQ(found(), "a.yaml b.yml c.json ");
  EXPECT_EQ(found("", true), "a.yaml a/z.yaml b.yml c.json sub/d.yaml sub/deep/e.json ");
  EXPECT_EQ(found("sub/"), "sub/d.yaml ");
}

TEST_F(DocumentFiles, AnythingElseIsTakenAsTheFileItself) {
  write("notes.txt");
  EXPECT_EQ(found("notes.txt"), "notes.txt ");
  EXPECT_EQ(found("missing"), "missing ") << "reading it tells why";
}

TEST_F(DocumentFiles, AFolderWithoutDocumentsIsAnError) {
  write("sub/notes.txt");
  fs::create_directory(folder_ / "folder.yaml");
  EXPECT_EQ(found(), "DIR/: has no *.yaml, *.yml or *.json file; -R looks in subfolders, too");
  EXPECT_EQ(found("", true), "DIR/: has no *.yaml, *.yml or *.json file, nor have its subfolders");
}

TEST_F(DocumentFiles, LinksOfFilesCountAndLoopsEnd) {
  write("sub/a.yaml");
  fs::create_symlink("sub/a.yaml", folder_ / "link.yaml");
  fs::create_directory_symlink("..", folder_ / "sub" / "up");
  fs::create_directory_symlink(".", folder_ / "self.yaml");
  fs::create_symlink("loop.yaml", folder_ / "loop.yaml");
  ASSERT_EQ(::mkfifo((folder_ / "pipe.yaml").c_str(), 0600), 0);
  EXPECT_EQ(found("", true), "link.yaml loop.yaml sub/a.yaml ");
  fs::create_directory_symlink("sub", folder_ / "other");
  EXPECT_EQ(found("other"), "other/a.yaml ") << "a link that is named itself";
}

TEST_F(DocumentFiles, FaultsNameTheFileInTheFolderAndLeaveItsNeighbours) {
  write("a.yaml", "kind: d\nregion: eu\nspec: {}\n");
  write("b.json", "{\"kind\": \"d\",\n \"regoin\": \"eu\"}\n");
  fs::create_symlink("nowhere", folder_ / "c.yaml");
  const Documents read = read_documents({{folder_}, false}, false);
  EXPECT_EQ(read.good.size(), 1u);
  EXPECT_EQ(read.faults,
            (std::vector<std::string>{
                folder_.string() + "/b.json:2: regoin: unknown field (did you mean \"region\"?)",
                folder_.string() + "/c.yaml: cannot be read: No such file or directory"}));
}

}  // namespace
}  // namespace davit::host
