"""Starts members of etcd on free loopback ports, and stops the processes that it has started."""
import os, shutil, signal, socket, subprocess, tempfile, time, urllib.request

QUIET = ["--logger", "zap", "--log-level", "error", "--log-outputs", "stderr"]
# An election under load must not begin by itself: with the defaults, 100 ms and 1 s, an idle
# cluster on a busy machine had three.
TIMES = ["--heartbeat-interval", "300", "--election-timeout", "3000"]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    """A cluster of one or three members."""

    def __init__(self, count=3, options=()):
        self.folder = tempfile.mkdtemp(prefix="etcd-")
        self.options = [*options, *TIMES]
        ports = free_ports(2 * count)
        self.clients, self.peers = ports[:count], ports[count:]
        self.processes = [None] * count
        try:
            for index in range(count):
                self.start(index)
            self.wait()
        except BaseException:
            self.stop()
            raise

    @property
    def endpoints(self):
        return ",".join(self.url(index) for index in range(len(self.clients)))

    def url(self, index):
        return f"http://127.0.0.1:{self.clients[index]}"

    def peer(self, index):
        return f"http://127.0.0.1:{self.peers[index]}"

    def command(self, index):
        members = ",".join(f"m{number}={self.peer(number)}" for number in range(len(self.peers)))
        return ["etcd", "--name", f"m{index}", "--data-dir", f"{self.folder}/m{index}",
                "--listen-client-urls", self.url(index), "--advertise-client-urls", self.url(index),
                "--listen-peer-urls", self.peer(index), "--initial-advertise-peer-urls", self.peer(index),
                "--initial-cluster", members, "--initial-cluster-token", os.path.basename(self.folder)] + QUIET + self.options

    def start(self, index):
        with open(f"{self.folder}/m{index}.log", "ab") as log:
            self.processes[index] = subprocess.Popen(self.command(index), stdout=log, stderr=log, start_new_session=True)

    def kill(self, index):
        if self.processes[index]:
            self.processes[index].send_signal(signal.SIGKILL)
            self.processes[index].wait()
            self.processes[index] = None

    def is_healthy(self, index):
        try:
            urllib.request.urlopen(self.url(index) + "/v3/kv/range", b'{"key":"YQ=="}', timeout=2).close()
            return True
        except urllib.error.HTTPError as error:
            return b"user name" in error.read()
        except OSError:
            return False

    def wait(self, indices=None, timeout=60):
        """Waits until the members answer what needs a majority."""
        deadline = time.time() + timeout
        for index in range(len(self.clients)) if indices is None else indices:
            while not self.is_healthy(index):
                if time.time() > deadline or self.processes[index].poll() is not None:
                    raise SystemExit(f"member {index} does not run: " + open(f"{self.folder}/m{index}.log").read()[-2000:])
                time.sleep(0.1)

    def etcdctl(self, *words, check=True, input=None):
        environment = dict(os.environ, ETCDCTL_API="3")
        return subprocess.run(["etcdctl", "--endpoints", self.url(0), *words], env=environment, input=input,
                              check=check, capture_output=True, text=True).stdout

    def stop(self):
        for index in range(len(self.processes)):
            self.kill(index)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
