#include "rpc/certificate.hpp"

#include <algorithm>
#include <fstream>

#include "certificates.hpp"
#include "rpc/client_certificate.hpp"
#include "rpc/server_certificate.hpp"

namespace davit::host {
namespace {

TEST(Certificate, SaysWhatIsWrongWithWhichFile) {
  const Folder folder;
  const Authority authority(folder, "ca");
  authority.issue("good");
  authority.issue("other");
  authority.issue("old", -1);
  folder.write("text", "no certificate");
  const auto content = [&](const std::string& name) {
    std::ifstream in(folder.path(name));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const auto error = [&](const std::string& certificate, const std::string& key) {
    const auto r = read_certificate(folder.path(certificate), folder.path(key));
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
  const std::string expired = error("old.crt", "old.key");
  EXPECT_EQ(expired.rfind("old.crt: certificate expired on 2", 0), 0u) << expired;
  EXPECT_NE(expired.find("Z: renew it"), std::string::npos) << expired;
  const std::string good = content("good.crt"), broken = "-----BEGIN CERTIFICATE-----\nAAAA\n";
  folder.write("half", good + broken);
  EXPECT_EQ(error("half", "good.key"), "half: certificate 2 in it cannot be read");
  folder.write("large", std::string(2 << 20, 'x'));
  EXPECT_EQ(error("large", "good.key"), "large: larger than 1 MiB");
  ASSERT_EQ(std::system(("openssl req -x509 -newkey rsa:512 -nodes -subj /CN=weak -keyout " +
                         folder.path("weak.key") + " -out " + folder.path("weak.crt") +
                         " >/dev/null 2>&1")
                            .c_str()),
            0);
  EXPECT_EQ(error("weak.crt", "weak.key"), "weak.crt: TLS does not take it: ee key too small");
  EXPECT_TRUE(read_ca(authority.certificate()).ok());
  EXPECT_FALSE(read_ca(folder.path("text")).ok());
}

// The clock of the authority is ahead of ours.
TEST(ServerCertificate, TakesACertificateThatBeginsLaterOnceItHasBegun) {
  const Folder folder;
  const Authority authority(folder, "ca");
  authority.issue("server");
  const Side side("s");
  ServerSettings settings;
  settings.name = "main";
  settings.certificate_file = folder.path("server.crt");
  settings.key_file = folder.path("server.key");
  ServerCertificate certificate(side.core, settings);
  ASSERT_TRUE(certificate.load().ok());
  ASSERT_TRUE(certificate.take());
  authority.issue("server");
  authority.begin_soon("server", 5);  // a file is looked at for two seconds after its change
  const auto warned = [&] {
    const auto lines = side.lines();
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("certificate is not valid before") != std::string::npos;
    });
  };
  certificate.look();
  ASSERT_EQ(warned(), 1);
  EXPECT_FALSE(certificate.take()) << "the old one stays";
  EXPECT_TRUE(eventually([&] {
    certificate.look();
    return certificate.take().has_value();
  }));
  EXPECT_EQ(warned(), 1);
}

TEST(ClientCertificate, AKeyThatAloneIsBadIsReported) {
  const Folder folder;
  const Authority authority(folder, "ca");
  authority.issue("agent", 90);
  const Side side("s");
  ClientSettings settings;
  settings.name = "control";
  settings.certificate_file = folder.path("agent.crt");
  settings.key_file = folder.path("agent.key");
  ClientCertificate certificate(side.core, settings);
  ASSERT_TRUE(eventually([&] { return FileLook::of(settings.certificate_file)->settled(); }));
  certificate.look();
  EXPECT_EQ(side.lines().size(), 0u);
  folder.write("agent.key", "nonsense");
  certificate.look();
  certificate.look();
  ASSERT_EQ(side.lines().size(), 1u);
  EXPECT_NE(side.lines()[0].find("agent.key: not a PEM private key without a password"),
            std::string::npos)
      << side.lines()[0];
}

}  // namespace
}  // namespace davit::host
