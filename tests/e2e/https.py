"""HTTPS to one server. A connection is kept, because a handshake costs both ends more than most requests do."""

import http.client
import threading
import time
from urllib.parse import urlsplit

SECONDS = 60
# An API server ends the connection of a request whose resource is defined anew while it is served.
ABORTED_MAX, ABORTED_PAUSE_SECONDS = 50, 0.1
REPEATABLE = ("GET", "PATCH", "PUT")


class Https(threading.local):
    """Each thread has a connection of its own."""

    def __init__(self, url, context):
        super().__init__()
        self.target, self.context = urlsplit(url), context
        self.connection = None

    def connect(self, seconds=SECONDS):
        """A connection that is not kept."""
        return http.client.HTTPSConnection(self.target.hostname, self.target.port, timeout=seconds, context=self.context)

    def request(self, method, path, body=None, headers=None):
        """(status, bytes). A server that is away raises OSError."""
        aborted = 0
        while True:
            kept, self.connection = self.connection, None
            connection = kept or self.connect()
            try:
                connection.request(method, path, body, headers or {})
                answer = connection.getresponse()
                found = answer.status, answer.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if kept is not None:
                    continue  # the server has closed it meanwhile
                aborted += 1
                if not isinstance(error, http.client.RemoteDisconnected) or method not in REPEATABLE or aborted > ABORTED_MAX:
                    raise OSError(str(error)) from error
                time.sleep(ABORTED_PAUSE_SECONDS)
                continue
            self.connection = connection
            return found
