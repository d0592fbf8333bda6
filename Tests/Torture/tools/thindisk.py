"""Processes on a disk that cannot grow for a moment, so that their flushes fail.

A file system is on a loop device, whose backing file is sparse and on a small tmpfs. `fill` discards
the free blocks of the file system and fills the tmpfs, like a thinly provisioned disk. Then new data
cannot be written, but the journal can. `grow` frees the space again. `cut_power` makes the file
system drop everything that is not on the device.
"""
import fcntl, os, re, shutil, signal, struct, subprocess, sys, tempfile, time

# XFS_IOC_GOINGDOWN is the same number with the same flags.
EXT4_IOC_SHUTDOWN, NOLOGFLUSH, MIB = 0x8004587D, 2, 1 << 20
MKFS = {"ext4": ["mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"],
        "xfs": ["mkfs.xfs", "-q", "-K"]}
# Longer than the free part of a new settings file, so that the disk must allocate new blocks.
LARGE = 70_000
script = os.path.basename(sys.argv[0])


def run(*command):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"{script}: {' '.join(command)}: {ended.stderr.strip()}")


def make(kind, image):
    """Makes an empty file system in a file.

    All blocks of an ext4 are in the file, so that its journal can always be written. An xfs has at
    least 300 MB with a log of 64 MB. Its file is sparse: a mount writes the next 2 MB of the log,
    more than one test uses.
    """
    with open(image, "wb") as out:
        if kind == "ext4":
            out.write(bytes(32 * MIB))
        else:
            out.truncate(320 * MIB)
    run(*MKFS[kind], image)


def mount(image, folder):
    run("mount", "-o", "loop", image, folder)
    os.chmod(folder, 0o700)


def unmount(folder):
    # A killed process may hold its files for a moment after its output has ended.
    for _ in range(100):
        if not subprocess.run(["umount", folder], capture_output=True).returncode:
            return
        time.sleep(0.05)
    run("umount", folder)


def cut_power(folder):
    """Makes the file system of a folder fail at once. Only what is on the device survives."""
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.ioctl(descriptor, EXT4_IOC_SHUTDOWN, struct.pack("I", NOLOGFLUSH))
    os.close(descriptor)


class Session:
    """A process that executes commands."""

    def __init__(self, program, file, tracing):
        self.process = subprocess.Popen([*tracing, program, "session", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, bufsize=1)
        self.failures = 0

    def send(self, *words):
        try:
            print(*words, file=self.process.stdin)
        except BrokenPipeError:
            pass

    def line(self):
        """Returns the next answer, or an empty string if the process has died."""
        while True:
            line = self.process.stdout.readline().strip()
            if not line.startswith("FAILURE"):
                return line
            self.failures += 1

    def ask(self, *words):
        self.send(*words)
        return self.line()

    def end(self, kill=True):
        if kill:
            # Kill the process, not its tracer: without the tracer, the process would continue.
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
                for process in children.read().split() or [self.process.pid]:
                    os.kill(int(process), signal.SIGKILL)
        else:
            self.process.stdin.close()
        self.failures += sum(line.startswith("FAILURE") for line in self.process.stdout)
        return self.process.wait()


class ThinDisk:
    """A disk with one file system, and the processes that use it."""

    def __init__(self, program, kind, top):
        self.program, self.kind, self.sessions = program, kind, []
        self.folder, self.whole = os.path.join(top, "disk"), os.path.join(top, "whole")
        self.image, self.ballast = os.path.join(top, "backing", "image"), os.path.join(top, "backing", "ballast")
        self.file, self.log = os.path.join(self.folder, "s.defaults"), os.path.join(top, "log")
        for name in ["disk", "backing"]:
            os.makedirs(os.path.join(top, name))
        run("mount", "-t", "tmpfs", "-o", "size=48m,mode=700", "none", os.path.join(top, "backing"))
        make(kind, self.whole)

    def begin(self):
        """Mounts an empty file system."""
        self.sessions.clear()
        run("cp", self.whole, self.image)
        mount(self.image, self.folder)

    def session(self, *tracing):
        self.sessions.append(Session(self.program, self.file, tracing))
        return self.sessions[-1]

    def fill(self):
        """Discards the free blocks of the disk, and fills the file system that they come from."""
        run("sync", "-f", self.folder)
        run("fstrim", self.folder)
        with open(self.ballast, "wb", buffering=0) as out:
            try:
                while True:
                    out.write(bytes(4_096))
            except OSError:
                return

    def grow(self):
        if os.path.exists(self.ballast):
            os.remove(self.ballast)

    def fsync_fails(self):
        """Flushes the file like another program, and returns whether that gets an error."""
        descriptor = os.open(self.file, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            return False
        except OSError:
            return True
        finally:
            os.close(descriptor)

    def sync_fails(self):
        """Flushes the file system, and returns whether that gets an error.

        The next `fdatasync` of the file gets the error all the same.
        """
        return subprocess.run(["sync", "-f", self.folder], capture_output=True).returncode != 0

    def failed_flushes(self):
        """Returns the number of failed flushes in the log of strace."""
        with open(self.log) as log:
            return sum(bool(re.search(r"fdatasync( resumed|\().*= -1 ", line)) for line in log)

    def cut_power(self):
        """Cuts the power, ends the processes, and mounts what is left."""
        cut_power(self.folder)
        for session in self.sessions:
            if session.process.poll() is None:
                session.end()
        unmount(self.folder)
        mount(self.image, self.folder)

    def end(self):
        unmount(self.folder)


def disks(program):
    """Yields a disk with each file system, and reports those that cannot be tested.

    Runs the script again in a mount namespace of its own, which removes the file systems when the
    script ends for any reason.
    """
    if "THIN_DISK" not in os.environ:
        if subprocess.run(["unshare", "-m", "true"]).returncode:
            sys.exit(f"{script}: not run: mounting a file system needs root and a container that allows it")
        with tempfile.TemporaryDirectory() as top:
            sys.exit(subprocess.run(["unshare", "-m", *sys.argv], env={**os.environ, "THIN_DISK": top}).returncode)
    found = 0
    for kind in MKFS:
        if not shutil.which(f"mkfs.{kind}"):
            print(f"skipped: {kind}: mkfs.{kind} is not installed")
            continue
        with open("/proc/filesystems") as mountable:
            if kind not in mountable.read().split():
                print(f"skipped: {kind}: this kernel cannot mount it")
                continue
        found += 1
        yield ThinDisk(program, kind, os.path.join(os.environ["THIN_DISK"], kind))
    if not found:
        sys.exit(f"{script}: no file system could be tested")
