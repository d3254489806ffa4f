"""Peers that no row of a table can show: streams, readers that stop, raw HTTP/2, settings, a store in trouble."""

import sqlite3
import threading
import unittest

import requests_table as table
from parts import deployment, wait_until
from requests_case import HERE, RequestCase, record_said, said, setUpModule, state_said
from stores import on_a_file
from wire import SECONDS, Client, RawClient, agent, grpc, path_of

__all__ = ["setUpModule", "Raw", "Streams", "Settings", "Trouble"]


class Raw(RequestCase):
    """What a proper client would not send."""

    def raw(self):
        client = RawClient(self.world.port)
        self.addCleanup(client.close)
        return client

    def message(self):
        good = self.client.encode("AgentService/Get", table.REQUESTS["AgentService/Get"])
        return b"\0" + len(good).to_bytes(4, "big") + good

    def test_rows(self):
        path = path_of(self.defined["AgentService/Get"])
        for what, headers, body, end in table.RAW:
            with self.subTest(what):
                client = self.raw()
                stream = client.open(path, headers, body(self.message()))
                self.assertEqual(client.end_of(stream), end)
                self.assertEqual(self.outcome("AgentService/Get", table.REQUESTS["AgentService/Get"]), "ok")

    def test_half_sent_messages_hold_nobody_up(self):
        path = path_of(self.defined["AgentService/Get"])
        waiting = [self.raw() for _ in range(20)]
        for client in waiting:
            client.open(path, table.IN_HERE, self.message()[:-3], end=False)
        self.assertEqual(self.outcome("AgentService/Get", table.REQUESTS["AgentService/Get"]), "ok")
        for client in waiting:
            client.close()
        self.assertEqual(self.outcome("AgentService/Get", table.REQUESTS["AgentService/Get"]), "ok")


class Streams(RequestCase):
    """Streams as they are by default: they stay open until somebody ends them."""

    EVERY = [("AgentService/Watch", "subscriptions { kind: 'deployment' }"), ("ClusterService/WatchDeployments", "")]

    @staticmethod
    def ids(messages):
        """The records that a stream of either protocol named."""
        found = set()
        for message in messages:
            if hasattr(message, "records"):
                found.update(r.id for r in message.records)
            elif message.HasField("apply"):
                found.add(message.apply.deployment_id)
        return found

    def read_until(self, stream, wanted):
        """Reads until the records were named; the stream's own deadline ends the wait."""
        messages = []
        for message in stream:
            messages.append(message)
            if wanted <= self.ids(messages):
                return
        self.fail(f"the stream ended and had named {self.ids(messages)}")

    def test_a_stream_lasts_until_its_deadline(self):
        for name, request in self.EVERY:
            with self.subTest(name):
                answer = self.call(name, request, seconds=SECONDS / 5)
                self.assertEqual(answer.code, "DEADLINE_EXCEEDED")
                self.assertIn("d_1", self.ids(answer.messages))

    def test_cancelled_streams_leave_nothing(self):
        for name, request in self.EVERY * 50:
            self.assertEqual(self.call(name, request, enough=lambda _: True).code, "ENOUGH")
        wait_until("no stream is left", lambda: self.metric("davit_streamer_streams") == 0)
        stream = self.client.start(*self.EVERY[0], agent(HERE))
        next(stream)
        self.assertEqual(self.metric("davit_streamer_streams"), 1)
        stream.cancel()

    def test_a_reader_that_stops_holds_nobody_up_and_misses_nothing(self):
        for turn, (name, request) in enumerate(self.EVERY, 1):
            with self.subTest(name):
                numbers = range(1000 * turn, 1000 * turn + 100)
                slow = self.client.start(name, request, agent("there"), seconds=4 * SECONDS)
                next(slow)
                others = []
                for _ in range(2):  # on a connection of its own each
                    other = Client(f"127.0.0.1:{self.world.port}", self.defined)
                    self.addCleanup(other.close)
                    others.append(other.start(name, request, agent("there"), seconds=4 * SECONDS))
                # 10 MB, far beyond what is buffered on the way.
                self.world.apply([deployment(n, region="there", command=["x" * 100_000]) for n in numbers])
                wanted = {f"d_{n}" for n in numbers}
                for other in others:
                    self.read_until(other, wanted)
                self.read_until(slow, wanted)

    def test_a_server_that_stops_says_when_to_come_back(self):
        streams = [self.client.start(name, request, agent(HERE)) for name, request in self.EVERY]
        for stream in streams:
            next(stream)
        ended = threading.Thread(target=self.server.stop)
        ended.start()
        for stream in streams:
            with self.assertRaises(grpc.RpcError):
                for _ in stream:
                    pass
            self.assertEqual(stream.code().name, "UNAVAILABLE")
            self.assertEqual(stream.details(), "the server is shutting down")
            self.assertGreater(int(dict(stream.trailing_metadata())["retry-after-ms"]), 0)
        ended.join()


class Settings(RequestCase):
    """What settings change of it."""

    settings = """
ctrl_bookmarks = true
[plugin.deployment]
zero_is_delete = true
"""
    listener = 'transport = "grpc"\nstreams_max = 5'

    def test_no_replicas_is_a_delete(self):
        answer = self.call("ClusterService/GetDesiredDeploymentState", "deployment_id: 'd_8'")
        self.assertEqual(said(answer, state_said), "delete shop/app-8")
        answer = self.call("AgentService/Get", "kind: 'deployment' id: 'd_8'")
        self.assertEqual(said(answer, lambda m: record_said(m.record)), "delete shop/app-8 @8")
        answer = self.call("ClusterService/WatchDeployments", "version_last_seen: 7", enough=lambda m: m.version >= 8)
        self.assertEqual(said(answer, state_said), "delete shop/app-8 @8")

    def test_a_bookmark_moves_the_cursor_over_what_is_not_sent(self):
        head = self.at().version
        answer = self.call("ClusterService/WatchDeployments", "", "there", enough=lambda m: m.version == head)
        self.assertEqual(said(answer, state_said), f"apply shop/app-7 @7, move to {head}")

    def test_more_streams_than_allowed_wait_and_others_go_on(self):
        streams = [self.client.start("AgentService/Watch", "subscriptions { kind: 'deployment' }", agent(HERE))
                   for _ in range(5)]
        for stream in streams:
            next(stream)
        one_more = self.call("AgentService/Get", table.REQUESTS["AgentService/Get"], seconds=2)
        self.assertEqual(one_more.code, "DEADLINE_EXCEEDED")
        other = Client(f"127.0.0.1:{self.world.port}", self.defined)
        self.addCleanup(other.close)
        get = ("AgentService/Get", table.REQUESTS["AgentService/Get"], agent(HERE))
        self.assertEqual(other.call(*get).code, "OK")
        streams[0].cancel()
        self.assertEqual(self.client.call(*get).code, "OK")

    def test_a_peer_that_ignores_the_limit_is_refused(self):
        client = RawClient(self.world.port)
        self.addCleanup(client.close)
        path = path_of(self.defined["AgentService/Watch"])
        good = self.client.encode("AgentService/Watch", table.REQUESTS["AgentService/Watch"])
        get = path_of(self.defined["AgentService/Get"])
        self.assertEqual(client.end_of(client.open(get, [], b"")), "UNAUTHENTICATED")  # the limit has come by then
        client.h2.remote_settings.max_concurrent_streams = 1000
        client.h2.remote_settings.acknowledge()
        streams = [client.open(path, table.IN_HERE, b"\0" + len(good).to_bytes(4, "big") + good) for _ in range(50)]
        self.assertIn(client.end_of(streams[-1]), ("reset", "closed", "RESOURCE_EXHAUSTED", "UNAVAILABLE"))
        self.assertEqual(self.outcome("AgentService/Get", table.REQUESTS["AgentService/Get"]), "ok")


@on_a_file
class Trouble(RequestCase):
    """A store that is locked by another program."""

    REPORT = ("ClusterService/ReportDeploymentStatus", "update { k8s_name: 'app-1' instances { k8s_name: 'p' } }")

    def lock(self):
        other = sqlite3.connect(self.world.store.path, isolation_level=None, check_same_thread=False)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        return other

    def test_a_report_waits_for_a_lock_and_is_stored(self):
        other = self.lock()
        # Longer than SQLite waits (5 s), shorter than the host tries.
        soon = threading.Timer(7, other.execute, ["ROLLBACK"])
        soon.start()
        self.assertEqual(self.outcome(*self.REPORT), "ok")
        soon.join()
        self.assertEqual(self.pods_of("d_1"), "p inactive")

    def test_a_storage_error_reaches_the_caller_with_its_own_text(self):
        other = self.lock()
        for name, request in (self.REPORT, ("AgentService/Report", table.REQUESTS["AgentService/Report"]),
                              ("AgentService/Progress", table.REQUESTS["AgentService/Progress"])):
            self.matches(name, f'UNAVAILABLE: ...storage "main": is locked by another program: '
                         "end its transaction", self.outcome(name, request, seconds=4 * SECONDS))
        self.assertEqual(self.outcome("AgentService/Get", table.REQUESTS["AgentService/Get"]), "ok")
        other.execute("ROLLBACK")
        self.assertEqual(self.outcome(*self.REPORT), "ok")


if __name__ == "__main__":
    unittest.main(verbosity=2)
