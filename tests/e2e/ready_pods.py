"""Counts the ready pods of each workload from the API server's own watch events, in their order."""

import json
import threading

from parts import wait_until


class ReadyPods(threading.Thread):
    """Watches the pods of a namespace. `fewest` has the least number by deployment's id since `begin`."""

    def __init__(self, kubernetes, namespace):
        super().__init__(daemon=True)
        self.kubernetes, self.path = kubernetes, f"/api/v1/namespaces/{namespace}/pods"
        self.lock = threading.Lock()
        self.ready, self.fewest, self.version, self.fault = {}, {}, 0, None
        status, answer = kubernetes.request("GET", self.path)
        if status != 200:
            raise AssertionError(answer)
        for pod in answer["items"]:
            self.see("ADDED", pod)
        self.stream = self.open(answer["metadata"]["resourceVersion"])
        self.start()

    def open(self, version):
        connection = self.kubernetes.https.connect(3000)
        connection.request("GET", f"{self.path}?watch=1&timeoutSeconds=3000&resourceVersion={version}",
                           headers=self.kubernetes.authorization())
        return connection.getresponse()

    def run(self):
        try:
            for line in self.stream:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise RuntimeError(line)
                with self.lock:
                    self.see(event["type"], event["object"])
        except Exception as fault:  # said by counts()
            self.fault = fault

    def see(self, what, pod):
        meta = pod["metadata"]
        number = meta.get("labels", {}).get("unkey.com/deployment.id")
        its = self.ready.setdefault(number, set())
        conditions = {c["type"]: c["status"] for c in pod.get("status", {}).get("conditions", [])}
        if what != "DELETED" and "deletionTimestamp" not in meta and conditions.get("Ready") == "True":
            its.add(meta["uid"])
        else:
            its.discard(meta["uid"])
        self.fewest[number] = min(self.fewest.get(number, len(its)), len(its))
        self.version = max(self.version, int(meta["resourceVersion"]))

    def catch_up(self):
        """Until the watch has shown each pod as it is now."""
        newest = max((int(pod["metadata"]["resourceVersion"]) for pod in self.kubernetes.items(self.path)), default=0)
        wait_until(lambda: f"the watch is at {self.version}, and not at {newest}",
                   lambda: self.fault is not None or self.version >= newest)

    def begin(self):
        """What was before does not count any more."""
        self.catch_up()
        with self.lock:
            self.fewest = {number: len(its) for number, its in self.ready.items()}

    def counts(self):
        """The least number of each."""
        self.catch_up()
        with self.lock:
            if self.fault is not None:
                raise AssertionError(f"the watch of the pods ended: {self.fault}")
            return dict(self.fewest)
