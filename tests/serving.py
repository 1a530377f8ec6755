"""A server on the loopback address, for tests of what set-up finds in the network."""

import contextlib
import threading
from http.server import ThreadingHTTPServer


@contextlib.contextmanager
def serving(handler):
    """Host and port of a server whose requests are answered by ``handler``."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
