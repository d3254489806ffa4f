"""A probe of a container by HTTP: when it is due, and what its answers add up to."""

import http.client
import ssl


FIRST_SECONDS = 1


class Probe:
    """`passed` is what its container is said to be; `failed`: the threshold of failures is reached. `eager`: it is asked
    once a second until it has passed, so that nobody waits a whole period for a program that starts in a moment."""

    def __init__(self, spec, container, address, started, eager):
        self.action, self.container, self.address = spec["httpGet"], container, address
        self.eager = eager
        self.period = spec.get("periodSeconds") or 10
        self.seconds = spec.get("timeoutSeconds") or 1
        self.successes_needed = spec.get("successThreshold") or 1
        self.failures_needed = spec.get("failureThreshold") or 3
        self.due = started + spec.get("initialDelaySeconds", 0)
        self.successes = self.failures = 0
        self.passed = self.failed = False

    def step(self, now):
        if now >= self.due:
            self.record(self.ask())
            waits = self.eager and not self.passed
            self.due = now + (min(FIRST_SECONDS, self.period) if waits else self.period)

    def record(self, good):
        self.successes, self.failures = (self.successes + 1, 0) if good else (0, self.failures + 1)
        if self.successes >= self.successes_needed:
            self.passed, self.failed = True, False
        if self.failures >= self.failures_needed:
            self.passed, self.failed = False, True

    def ask(self):
        host = self.action.get("host") or self.address
        if self.action.get("scheme", "HTTP") == "HTTPS":
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # as the kubelet does
            connection = http.client.HTTPSConnection(host, self.port(), timeout=self.seconds, context=context)
        else:
            connection = http.client.HTTPConnection(host, self.port(), timeout=self.seconds)
        headers = {header["name"]: header["value"] for header in self.action.get("httpHeaders", [])}
        try:
            connection.request("GET", self.action.get("path", "/"), headers=headers)
            return 200 <= connection.getresponse().status < 400
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def port(self):
        """A number, or the name of a port of the container."""
        wanted = self.action["port"]
        named = {port.get("name"): port["containerPort"] for port in self.container.get("ports", [])}
        return named.get(wanted, wanted)
