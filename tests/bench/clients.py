"""The least of a client: of the API server, of a watch there, of the server's two services. Peers are made of these."""

import json
import socket
import threading
import time

REPLICA_SETS = "/apis/apps/v1/namespaces/{}/replicasets"
APPLY = "application/apply-patch+yaml"
STRATEGIC = "application/strategic-merge-patch+json"


class Api:
    """One kept-alive connection to the API server."""

    def __init__(self, kubernetes):
        self.kubernetes = kubernetes
        self.headers = kubernetes.authorization()
        self.connection = kubernetes.https.connect(120)

    def send(self, method, path, body=None, content_type="application/json"):
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        self.connection.request(method, path, text, {**self.headers, "Content-Type": content_type})
        return self.connection.getresponse()

    def call(self, method, path, body=None, content_type="application/json"):
        answer = self.send(method, path, body, content_type)
        text = answer.read()
        if answer.status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {answer.status}: {text[:500]}")
        return json.loads(text)

    def close(self):
        self.connection.close()


class Watch:
    """A bare watch: calls `see(type, object)` with each event, on a thread of its own; wait() for what it makes true.

    The API server ends watches that read too slowly, and all after a while; then it goes on where it was.
    """

    def __init__(self, kubernetes, path, see):
        self.api, self.path, self.see, self.changed = Api(kubernetes), path, see, threading.Condition()
        self.closing, self.fault = False, None
        self.version = self.api.call("GET", f"{path}?limit=1")["metadata"]["resourceVersion"]
        self.answer = self.start()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def start(self):
        return self.api.send("GET", f"{self.path}?watch=1&resourceVersion={self.version}")

    def read(self):
        try:
            while not self.closing:
                while line := self.answer.readline():
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise RuntimeError(f"the watch of {self.path} ended: {event['object']}")
                    with self.changed:
                        self.version = event["object"]["metadata"]["resourceVersion"]
                        self.see(event["type"], event["object"])
                        self.changed.notify_all()
                self.answer.close()
                self.answer = self.start()
        except Exception as fault:  # pylint: disable=broad-except
            with self.changed:
                self.fault = fault
                self.changed.notify_all()

    def wait(self, holds, seconds=60):
        with self.changed:
            if not self.changed.wait_for(lambda: holds() or self.fault, seconds) or not holds():
                raise RuntimeError(f"the watch did not see it within {seconds} s") from self.fault
        return time.monotonic()

    def close(self):
        self.closing = True
        self.api.connection.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.api.close()


class Operator:
    """The server's two services, by one connection each."""

    def __init__(self, world):
        import wire  # needs grpcio
        self.cluster_pb, self.agent_pb, self.operator_pb = wire.generate()
        defined = wire.methods([self.agent_pb, self.operator_pb])
        self.operator = wire.Client(f"unix:{world.socket}", defined)
        self.agents = wire.Client(f"127.0.0.1:{world.port}", defined)
        self.headers = wire.agent

    def call(self, client, name, message, **options):
        answer = client.call(name, message.SerializeToString(), **options)
        if answer.code != "OK":
            raise RuntimeError(f"{name}: {answer}")
        return answer.messages[0]

    def apply(self, document):
        request = self.operator_pb.ApplyRequest()
        request.documents.add(kind=document["kind"], region=document["region"], id=document["id"],
                              spec_json=json.dumps(document["spec"]))
        outcome = self.call(self.operator, "OperatorService/Apply", request).outcomes[0]
        if outcome.outcome not in ("created", "changed"):
            raise RuntimeError(f"{document['id']}: {outcome.outcome} {outcome.message}")

    def running(self, region):
        """How many deployments of a region have all of their pods."""
        request = self.operator_pb.StatusRequest(kind="deployment", region=region)
        objects = self.call(self.operator, "OperatorService/Status", request).objects
        return sum(o.observed.health == "healthy" and o.observed.ready == o.observed.desired > 0 for o in objects)

    def report(self, region, identity, ready, sequence):
        request = self.agent_pb.ReportRequest()
        request.statuses.add(kind="deployment", id=identity, region=region, health="progressing", desired=1,
                             ready=ready, epoch=1, sequence=sequence)
        answer = self.call(self.agents, "AgentService/Report", request, metadata=self.headers(region))
        if answer.refusals:
            raise RuntimeError(f"the report was refused: {answer.refusals[0].message}")

    def close(self):
        self.operator.close()
        self.agents.close()
