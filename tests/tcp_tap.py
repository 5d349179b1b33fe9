# Tap: a connection between a client and a TCP address that a test hears, stops for a while, or cuts.
import socket
import threading


class Tap:
    """Listens at `port`, and passes connections on to a host and a port. heard: the bytes of each client."""

    def __init__(self, host, port):
        self.heard, self._target, self._open = [], (host, port), []
        self._flows = threading.Event()
        self._flows.set()
        self._listening = socket.create_server((host, 0))
        self.port = self._listening.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def stop(self):
        """Nothing passes any more, and neither side is told."""
        self._flows.clear()

    def go_on(self):
        """The bytes that were sent meanwhile arrive."""
        self._flows.set()

    def cut(self):
        """Ends all connections."""
        for one in self._open:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:  # it has ended before
                continue

    def close(self):
        self.go_on()
        self._listening.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join(10)
        for one in (self._listening, *self._open):
            one.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                server, heard = socket.create_connection(self._target), bytearray()
            except ConnectionRefusedError:
                client.close()
                continue
            self.heard.append(heard)
            self._open += [client, server]
            for source, target, keep in ((client, server, heard), (server, client, bytearray())):
                thread = threading.Thread(target=self._pass, args=(source, target, keep), daemon=True)
                thread.start()
                self._threads.append(thread)

    def _pass(self, source, target, keep):
        while True:
            try:
                data = source.recv(1 << 16)
                self._flows.wait()
                if not data:
                    break
                keep += data
                target.sendall(data)
            except OSError:
                break
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
