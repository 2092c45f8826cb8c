"""A TCP proxy before a daemon that cuts connections where a test says."""

import socket
import threading


class CuttingProxy:
    """Passes bytes on. Of the first connections one is cut after each of `cuts`: so many bytes of
    the request ("up") or of the answer ("down"). The later ones live."""

    def __init__(self, port: int, way: str, cuts: list[int]):
        self.target, self.way, self.cuts = port, way, list(cuts)
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            cut = self.cuts.pop(0) if self.cuts else None
            server = socket.create_connection(("127.0.0.1", self.target))
            for source, sink, way in [(client, server, "up"), (server, client, "down")]:
                threading.Thread(target=self._pass, daemon=True, args=(
                    source, sink, cut if way == self.way else None)).start()

    @staticmethod
    def _pass(source, sink, cut):
        left = cut
        try:
            while piece := source.recv(65536 if left is None else min(65536, left)):
                sink.sendall(piece)
                if left is not None:
                    left -= len(piece)
                    if left == 0:
                        break
            else:
                sink.shutdown(socket.SHUT_WR)
                return
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
