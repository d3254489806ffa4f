#include "rpc/certificate.hpp"

#include "certificates.hpp"

namespace davit::host {
namespace {

TEST(Certificate, SaysWhatIsWrongWithWhichFile) {
  const Folder folder;
  const Authority authority(folder, "ca");
  authority.issue("good");
  authority.issue("other");
  authority.issue("old", true);
  folder.write("text", "no certificate");
  const auto error = [&](const std::string& certificate, const std::string& key) {
    const auto r = check_certificate(folder.path(certificate), folder.path(key));
    if (r.ok()) return std::string("good");
    EXPECT_EQ(r.error().message.rfind(folder.path(""), 0), 0u) << r.error().message;
    return r.error().message.substr(folder.path("").size());
  };
  EXPECT_EQ(error("good.crt", "good.key"), "good");
  EXPECT_EQ(error("none.crt", "good.key"), "none.crt: no such file or directory");
  EXPECT_EQ(error("text", "good.key"), "text: not a PEM certificate");
  EXPECT_EQ(error("good.crt", "text"), "text: not a PEM private key without a password");
  EXPECT_EQ(error("good.crt", "other.key"),
            "other.key: the key does not belong to " + folder.path("good.crt"));
  EXPECT_EQ(error("old.crt", "old.key").rfind("old.crt: certificate expired on ", 0), 0u)
      << error("old.crt", "old.key");
  EXPECT_TRUE(check_ca(authority.certificate()).ok());
  EXPECT_FALSE(check_ca(folder.path("text")).ok());
}

}  // namespace
}  // namespace davit::host
