"""The table of good and bad requests (requests_table.py) through grpcurl, which speaks gRPC to either transport, and
what it learns of a server by reflection."""

import unittest

import requests_table as table
import test_requests
from grpcurl_client import ByGrpcurl, GrpcurlClient
from requests_case import HERE, RequestCase, record_said, said, setUpModule
from wire import agent

__all__ = ["setUpModule"]
CONNECT = 'transport = "connect"'


class OverGrpc(ByGrpcurl, test_requests.Table):
    test_bytes = None  # it makes its requests of JSON: none of bytes that are no message
    test_methods_that_are_not_there = None  # it calls what the protos name, and asks nobody else

    def test_no_reflection_unless_it_is_switched_on(self):
        succeeded, text = self.ask("list")
        self.assertFalse(succeeded)
        self.assertIn("server does not support the reflection API", text)


class OverConnect(OverGrpc):
    listener = CONNECT


class Reflection(ByGrpcurl, RequestCase):
    listener = 'transport = "grpc"\nreflection = true'

    def services(self):
        """What our protos define: full name -> methods."""
        found = {}
        for method in self.defined.values():
            found.setdefault(method.containing_service.full_name, []).append(method)
        return found

    def test_services_and_methods_are_named(self):
        succeeded, text = self.ask("list")
        self.assertTrue(succeeded, text)
        self.assertLessEqual({*self.services(), "grpc.health.v1.Health"}, set(text.split()))
        for service, methods in self.services().items():
            with self.subTest(service):
                wanted = {m.full_name for m in methods}
                succeeded, text = self.ask("list", service)
                self.assertEqual((succeeded, set(text.split())), (True, wanted))

    def test_services_are_described(self):
        for service, methods in self.services().items():
            succeeded, text = self.ask("describe", service)
            self.assertTrue(succeeded, text)
            for method in methods:
                with self.subTest(method.full_name):
                    stream = "stream " if method.server_streaming else ""
                    self.assertIn(f"rpc {method.name} ( .{method.input_type.full_name} ) returns "
                                  f"( {stream}.{method.output_type.full_name} );", text)

    def test_messages_are_described(self):
        for message in {m for method in self.defined.values() for m in (method.input_type, method.output_type)}:
            with self.subTest(message.full_name):
                succeeded, text = self.ask("describe", message.full_name)
                self.assertTrue(succeeded, text)
                for field in message.fields:
                    self.assertRegex(text, rf"\b{field.name} = {field.number}\b")

    def test_methods_are_called_without_our_protos(self):
        client = GrpcurlClient(self.target(), self.defined, schema=())
        self.addCleanup(client.close)
        answer = client.call("AgentService/Get", table.REQUESTS["AgentService/Get"], agent(HERE))
        self.assertEqual(said(answer, lambda m: record_said(m.record)), "apply shop/app-1 @1")
        watched = client.call("ClusterService/WatchDeployments", "version_last_seen: 9", agent(HERE),
                              enough=lambda m: m.version == 10)
        self.assertEqual(watched.code, "ENOUGH", watched)

    def test_it_wants_a_token(self):
        for what, metadata, refusal in (("none", [], table.MISSING), ("another", agent(token="nobody"), table.WRONG)):
            with self.subTest(what):
                succeeded, text = self.ask("list", metadata=metadata)
                self.assertFalse(succeeded, text)
                self.assertIn(refusal, text)


class ReflectionConnect(Reflection):
    listener = f"{CONNECT}\nreflection = true"


if __name__ == "__main__":
    unittest.main(verbosity=2)
