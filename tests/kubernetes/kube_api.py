"""Requests to one API server with the certificate of a rig's administrator. Python's standard library is enough."""

import http.client
import json
import ssl
import urllib.error
import urllib.request

REQUEST_SECONDS = 5
STRATEGIC_MERGE = "application/strategic-merge-patch+json"
# What a request raises when no API server has answered it.
UNREACHABLE = (OSError, http.client.HTTPException, ValueError)


class Refused(Exception):
    """The API server's answer is an error; the message is its own."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Api:
    def __init__(self, url, folder):
        context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        context.load_cert_chain(str(folder / "client.crt"), str(folder / "client.key"))
        # No proxy: it is on loopback.
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
        self.url = url

    def request(self, method, path, body=None, content_type="application/json"):
        """The object that is answered. Raises Refused, or what UNREACHABLE names."""
        with self._open(method, path, body, content_type, REQUEST_SECONDS) as answer:
            return json.load(answer)

    def watch(self, path, seconds):
        """Yields (type, object) of each event of a watch that ends by itself after `seconds`."""
        with self._open("GET", f"{path}&watch=1&timeoutSeconds={seconds}", None, "", seconds + REQUEST_SECONDS) as lines:
            for line in lines:
                event = json.loads(line)
                yield event["type"], event["object"]

    def _open(self, method, path, body, content_type, seconds):
        request = urllib.request.Request(self.url + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        if body is not None:
            request.add_header("Content-Type", content_type)
        try:
            return self.opener.open(request, timeout=seconds)
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            message = json.loads(text).get("message", text) if text.startswith("{") else text
            raise Refused(error.code, message) from None
