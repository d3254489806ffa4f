// Where the database is: URIs and keys, and that a password never shows.
#include "settings.hpp"

#include "plugin_under_test.hpp"

namespace davit::storage_postgres {
namespace {

std::string create_error(const testing::Config& config) {
  testing::TestHost host("main", config);
  testing::Instance instance(plugin(), host);
  const auto r = instance.create();
  return r.ok() ? "" : r.error().message;
}

std::string shown_value(const Pairs& keys, const std::string& key) {
  for (const auto& [name, value] : keys) {
    if (name == key) return value;
  }
  return "(none)";
}

TEST(Settings, AUriIsTakenApart) {
  const auto keys = parse_connection(
      "postgresql://me@db.example:6432/store?sslmode=verify-full&application_name=x");
  ASSERT_TRUE(keys.ok());
  for (const auto& [key, value] : Pairs{{"user", "me"},
                                        {"dbname", "store"},
                                        {"port", "6432"},
                                        {"host", "db.example"},
                                        {"sslmode", "verify-full"}})
    EXPECT_EQ(shown_value(*keys, key), value);
}

TEST(Settings, APasswordInTheUriIsRefusedAndNotShown) {
  for (const std::string& uri : {std::string("postgresql://me:") + secret + "@db/store",
                                 std::string("postgresql://db/store?password=") + secret,
                                 std::string("host=db password=") + secret,
                                 std::string("postgresql://db/store?sslpassword=") + secret}) {
    const std::string error = create_error({{"uri", uri}});
    EXPECT_TRUE(has(error, "password_file")) << error;
    EXPECT_FALSE(has(error, secret)) << error;
  }
}

TEST(Settings, AUriThatIsNoneIsRefusedAndNotShown) {
  for (const std::string& uri :
       {std::string("postgresql://me:") + secret + "%zz@db", std::string("nonsense ") + secret,
        std::string("postgresql://db?no_such=") + secret,
        std::string("host=db password='") + secret}) {
    const std::string error = create_error({{"uri", uri}});
    EXPECT_TRUE(has(error, "is not a connection string")) << error;
    EXPECT_FALSE(has(error, secret)) << error;
  }
}

TEST(Settings, WhatCannotBeIsRefused) {
  struct Row {
    testing::Config config;
    const char* error;
  };
  for (const Row& row :
       {Row{{{"uri", "postgresql://db/x"}, {"host", "other"}}, "stands in uri, too"},
        Row{{{"schema", ""}}, "must have 1 to 63 bytes"},
        Row{{{"schema", std::string(64, 's')}}, "must have 1 to 63 bytes"},
        Row{{{"schema", "pg_davit"}}, "must not begin with \"pg_\""},
        Row{{{"port", 65'536}}, "must be between"},
        Row{{{"connect_timeout_ms", 1}}, "must be between"}}) {
    const std::string error = create_error(row.config);
    EXPECT_TRUE(has(error, row.error)) << error;
  }
  EXPECT_EQ(create_error({{"uri", "postgresql://db/x"}, {"schema", "it's \"mine\""}}), "");
}

TEST(Settings, TheTextForLibpqQuotesWhatItHas) {
  testing::TestHost host("main", {{"user", "o'brien \\ x"}, {"host", "db"}, {"database", "d"}});
  const auto settings = PostgresSettings::read(host);
  const auto text = settings.connection_text(host);
  ASSERT_TRUE(text.ok());
  const auto keys = parse_connection(*text);
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(shown_value(*keys, "user"), "o'brien \\ x");
  EXPECT_EQ(settings.target, "database \"d\" on \"db\"");
}

TEST(Settings, ThePasswordIsReadAtEachConnection) {
  testing::TestHost host("main", {{"host", "db"}, {"password_file", "/secret"}});
  const auto settings = PostgresSettings::read(host);
  EXPECT_FALSE(settings.connection_text(host).ok()) << "there is no such file";
  for (const char* password : {"first", "it's the second"}) {
    host.set_credential("/secret", password);
    const auto keys = parse_connection(*settings.connection_text(host));
    ASSERT_TRUE(keys.ok());
    EXPECT_EQ(shown_value(*keys, "password"), password);
  }
}

TEST(Settings, NamesAndTextsAreQuotedForSql) {
  EXPECT_EQ(quoted_name("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(quoted_text("it's"), "'it''s'");
}

}  // namespace
}  // namespace davit::storage_postgres
