"""The table of good and bad requests (requests_table.py) through the official Connect client for Node: its answers are
the same whatever is spoken.

OverGrpc is that client speaking gRPC, the others speak what they are named after.
"""

import unittest

import test_requests
from connect_client import NodeClient
from requests_case import setUpModule

__all__ = ["setUpModule"]


class OverGrpc(test_requests.Table):
    how = {"protocol": "grpc", "http": "2"}

    def connect(self):
        return NodeClient(f"http://127.0.0.1:{self.world.port}", self.defined, **self.how)


class OverHttp1(OverGrpc):
    how = {"protocol": "connect", "http": "1.1"}
    listener = 'transport = "connect"'


class OverHttp2(OverHttp1):
    how = {"protocol": "connect", "http": "2"}


class OverHttp2Compressed(OverHttp1):
    how = {"protocol": "connect", "http": "2", "gzip": True}
    listener = 'transport = "connect"\ngzip = true'


class OverHttp1InJson(OverHttp1):
    how = {"protocol": "connect", "http": "1.1", "form": "json"}
    test_bytes = None  # of protobuf


class OverHttp2InJson(OverHttp1):
    how = {"protocol": "connect", "http": "2", "form": "json"}
    test_bytes = None


class OverGrpcOnTheSamePort(OverHttp1):
    how = {"protocol": "grpc", "http": "2"}


class OverGrpcWeb(OverHttp1):
    how = {"protocol": "grpc-web", "http": "1.1"}


if __name__ == "__main__":
    unittest.main(verbosity=2)
