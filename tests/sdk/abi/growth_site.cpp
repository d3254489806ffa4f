// growth_test: the roles that the host or a controller calls where something runs, secrets and
// actuator.
#include "growth_rig.hpp"

namespace davit::test {

void Growth::resolves() {
  const secrets::Client client(role<davit_secrets>(DAVIT_SECRETS));
  const std::vector<secrets::Item> items = {{DAVIT_SECRET_READ, "key", "text", "ref", "f", "7"},
                                            {}};
  client.resolve(
      items,
      [](const secrets::Results& results) {
        ASSERT_EQ(results.size(), 2u);
        EXPECT_EQ(words(std::string(results[0]->secret.view()), results[0]->version,
                        results[0]->valid_until_unix_ms),
                  "'plaintext' '7' 271");
        EXPECT_EQ(words(results[1].error()), "5 'is not there' 'ref' 0");
      },
      operation_);
  expect_logged("davit_secrets.resolve " + words(items));
}

void Growth::actuates() {
  const actuator::Client client(role<davit_actuator>(DAVIT_ACTUATOR));
  std::string told;
  actuator::Call call = values::call();
  call.event = [&](const actuator::Event& e) { told += words(e); };
  client.reconcile(
      call,
      [&](const actuator::Outcome& o) {
        EXPECT_FALSE(o.error);
        told += " " + words(o);
      },
      operation_);
  EXPECT_EQ(told, words(actuator::Event{true, "Reason", "said"}) + std::string(" ") +
                      words(values::built()));
  expect_logged("davit_actuator.reconcile " + words(values::call()));
  client.remove(
      values::call(),
      [&](const actuator::Outcome& o) {
        ASSERT_TRUE(o.error);
        EXPECT_EQ(words(*o.error), "10 'no' 'there' 53");
      },
      operation_);
  expect_logged("davit_actuator.remove " + words(values::call()));
}

}  // namespace davit::test
