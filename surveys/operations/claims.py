"""What one site needs for itself alone: its data folder and its port."""

import fcntl
import os
import socket
import time
from pathlib import Path


class CannotStart(Exception):
    """Say to the person at the terminal why the site does not start."""


def hold(folder: Path) -> int:
    """Hold the data folder until this process ends, and return the file that does: two brokers would share one log."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        process = os.read(lock, 20).decode().strip()
        raise CannotStart(
            f"Candor is already running on {folder} (process {process}). "
            "Stop it first, or set CANDOR_DATA to another folder and CANDOR_PORT to another port."
        ) from None
    os.truncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def refuse_port_in_use(host: str, port: int, patience: float = 2.0) -> None:
    """Refuse a port that another program has. A site killed a moment ago may still hold it: wait for that one."""
    deadline = time.monotonic() + patience
    while True:
        try:
            with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
                return
        except OSError as error:
            if time.monotonic() > deadline:
                raise CannotStart(
                    f"Port {port} on {host} cannot be used ({os.strerror(error.errno or 0)}). "
                    "Stop the program that has it, or choose another: CANDOR_PORT=8001."
                ) from error
            time.sleep(0.1)
