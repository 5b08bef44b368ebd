"""Runs a command where there is no network but the loopback, and says how often it was asked for all the same.

Usage: python without_network.py COMMAND...   (a script of its own: it is started, not imported)

A network namespace of its own has no other way out. As root that is one call; else it takes a user namespace, in which
the user stays who he is. The kernel counts what found no route, so that an attempt which is swallowed is seen too. Exit
code and signals are those of the command; 125 where no such place can be made.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
from pathlib import Path

NEW_USER, NEW_NET = 0x10000000, 0x40000000
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 0x1
IMPOSSIBLE = 125
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main() -> None:
    """Leave the network, run the command, say what was counted, and end as it ended."""
    try:
        leave_network()
        raise_loopback()
    except OSError as error:
        sys.stderr.write(f"no network namespace: {error.strerror}\n")
        sys.exit(IMPOSSIBLE)
    code = run(sys.argv[1:])
    if times := count_attempts():
        often = "once" if times == 1 else f"{times} times"
        sys.stdout.write(f"note: it asked for the network {often}, which is taken away\n")
        sys.stdout.flush()
    sys.exit(code)


def leave_network() -> None:
    """Move into a network namespace of our own; where that takes a user namespace, stay the same user in it."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(NEW_NET) == 0:
        return
    if libc.unshare(NEW_USER | NEW_NET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def raise_loopback() -> None:
    """Set the loopback up: tests and launchers talk to themselves."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        asked = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(handle, GET_FLAGS, asked), 16)
        fcntl.ioctl(handle, SET_FLAGS, struct.pack("16sh14x", b"lo", flags | UP))


def run(command: list[str]) -> int:
    """Run a command to its end, handing signals on; what it inherits from our caller it keeps."""
    child = os.fork()
    if child == 0:
        try:
            os.execvp(command[0], command)  # noqa: S606 - a step's script
        except OSError as error:
            sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        os._exit(127)
    for number in SIGNALS:
        signal.signal(number, lambda received, _frame: os.kill(child, received))
    _pid, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def count_attempts() -> int:
    """Give how many packets found no way out, or asked a name server that would be on this machine."""
    net = Path("/proc/self/net")
    pairs = [line.split() for line in (net / "snmp").read_text().splitlines()]
    tables = {
        names[0]: dict(zip(names, values, strict=True)) for names, values in zip(pairs[::2], pairs[1::2], strict=True)
    }
    six = (net / "snmp6").read_text().split() if (net / "snmp6").exists() else []
    of_six = int(six[six.index("Ip6OutNoRoutes") + 1]) if "Ip6OutNoRoutes" in six else 0
    return int(tables["Ip:"]["OutNoRoutes"]) + int(tables["Udp:"]["NoPorts"]) + of_six


if __name__ == "__main__":
    main()
