"""Kills a program at each of its system calls in a folder, with strace."""
import collections, os, random, re, shutil, signal, subprocess, tempfile, time


class Killer:
    """Runs commands of a program that work on files in one folder, which each run begins again."""

    def __init__(self, program):
        self.program = program
        self.work = tempfile.mkdtemp()
        self.root = os.path.join(self.work, "root")
        self.file = os.path.join(self.root, "kill.defaults")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.work)

    def begin(self, command, *arguments):
        """Runs a command on an empty folder, and returns a copy of the folder to begin with."""
        begun = os.path.join(self.work, f"begun-{command}-{len(os.listdir(self.work))}")
        self.reset(None)
        os.mkdir(self.root)
        self.run(command, *arguments, check=True)
        shutil.move(self.root, begun)
        return begun

    def reset(self, begun):
        """Makes the folder that of `begin`. Without one, the folder is missing."""
        shutil.rmtree(self.root, ignore_errors=True)
        if begun:
            shutil.copytree(begun, self.root)

    def run(self, command, *arguments, check=False):
        return subprocess.run([self.program, command, self.file, *arguments], capture_output=True, text=True, check=check)

    def start(self, command, *arguments, delay=0):
        """Starts a command after so many seconds."""
        return subprocess.Popen(["sh", "-c", f'sleep {delay:.3f}; exec "$0" "$@"', self.program, command, self.file,
                                 *arguments], stdout=subprocess.DEVNULL)

    def trace(self, command, arguments, *options):
        return subprocess.run(["strace", "-f", *options, self.program, command, self.file, *arguments],
                              capture_output=True, text=True)

    def calls(self, begun, command, arguments):
        """Counts the calls of the main thread: all, and those before it names the folder."""
        log, start = os.path.join(self.work, "log"), time.monotonic()
        self.reset(begun)
        self.trace(command, arguments, "-o", log)
        self.duration = time.monotonic() - start
        total, before, main = collections.Counter(), None, None
        with open(log) as lines:
            for line in lines:
                thread, text = line.split(None, 1)
                main = main or thread
                if self.root in text and "execve" not in text:
                    before = before or total.copy()
                call = re.match(r"[a-z]\w*(?=\()", text)
                if call and thread == main:
                    total[call[0]] += 1
        return total, before

    def kills(self, begun, command, *arguments, most=None, names=None, beside=None):
        """Yields the call, its number and the killed process for each kill.

        The process dies when it enters a call, so that the call is not made. Dying after a call is
        the same as dying at the next one. Calls before the first one that names the folder belong
        to the start of the program and are skipped.

        most: the number of occurrences of each call to try, evenly spread; by default all
        names: only these calls
        beside: a command that another process runs meanwhile, begun at a random moment
        """
        total, before = self.calls(begun, command, arguments)
        for name in sorted(names or total):
            occurrences = range(before[name] + 1, total[name] + 1)
            if most and len(occurrences) > most:
                occurrences = [occurrences[index * (len(occurrences) - 1) // max(most - 1, 1)] for index in range(most)]
            for occurrence in occurrences:
                self.reset(begun)
                other = beside and self.start(beside, *arguments, delay=random.uniform(0, self.duration))
                killed = self.trace(command, arguments, "-o", "/dev/null", "-e", f"trace={name}",
                                    "-e", f"inject={name}:signal=KILL:when={occurrence}")
                if other:
                    other.wait()
                if killed.returncode == -signal.SIGKILL:
                    yield name, occurrence, killed

    def leftovers(self):
        """Files that the library does not make: nothing may have been copied aside as damaged."""
        return [name for name in os.listdir(self.root) if not re.fullmatch(r"kill\.defaults(-group)?|\..*\.new", name)]
