"""Processes with odd names and arguments, and some that have ended and are not collected.

processes.py COUNT: prints a line when all are there, and ends them all when its standard input closes.
"""

import ctypes
import os
import signal
import sys
import tempfile

PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
NAMES = [
    b") R 1 (", b"a b\tc", b"\n\n", b"\xff\xfe\x80", b"((((((((((((((((", b"", b" ", b"<script>", b'"},{"pid":1',
    b"\x1b[31mred", b"\xe2\x80\xa8line", b"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0", b"kworker/0:1",
    b"systemd", b"__proto__", b"constructor", b"0", b"-1", b"../../../etc", b"%s%n%x",
]
libc = ctypes.CDLL(None, use_errno=True)
folder = tempfile.mkdtemp(prefix="hostwire-siege-")


def be_odd(index):
    """Runs in the child: takes an odd name, or becomes a program of an odd name with odd arguments."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    name = NAMES[index // 3 % len(NAMES)]
    if index % 10 == 9:
        os._exit(0)
    if index % 3 == 0 and name not in (b"", b"../../../etc"):
        link = os.path.join(folder.encode(), name)
        try:
            os.symlink(b"/bin/sleep", link)
        except FileExistsError:
            pass
        os.execv(link, [name * 4000 + b"\n", b"600"])
    libc.prctl(PR_SET_NAME, name)
    signal.pause()


children = []
for index in range(int(sys.argv[1])):
    pid = os.fork()
    if pid == 0:
        try:
            be_odd(index)
        finally:
            os._exit(1)
    children.append(pid)
print("started", flush=True)
sys.stdin.read()
for pid in children:
    os.kill(pid, signal.SIGKILL)
for pid in children:
    os.waitpid(pid, 0)
for name in os.listdir(folder.encode()):
    os.unlink(os.path.join(folder.encode(), name))
os.rmdir(folder)
