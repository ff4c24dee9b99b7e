"""A process of a worker, before it has a message: what it makes of signals, and what of Celery is left to messages."""

import subprocess
import sys

import pytest

SIGNALS = """
import os, signal
from celery.worker import state
from farthest.worker import service
signal.pthread_sigmask(signal.SIG_BLOCK, service.DRAINS)
for number in service.DRAINS:
    os.kill(os.getpid(), number)
service._follow_main()
print(state.should_stop)
"""

COMPRESSED = """
import bz2, lzma, zlib
from kombu import compression
from kombu.message import Message
from farthest.worker import service
from farthest.worker.app import celery_app
service._restrict(celery_app("redis://localhost:6379/0"))
body = bytes(2**20)
made = {"gzip": zlib.compress(body), "bzip2": bz2.compress(body), "xz": lzma.compress(body)}
for name, said in made.items():
    message = Message(said, headers={"compression": name})
    print(name, len(message.errors), len(message.body) == len(said))
print({compression.get_decoder(name) for name in compression.encoders()} == {service._refuse})
"""


def printed(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=60, check=True
    ).stdout


def test_a_signal_that_came_before_a_process_listened_is_heard() -> None:
    assert printed(SIGNALS) == "0\n"


@pytest.mark.slow
def test_no_message_is_decompressed() -> None:
    assert printed(COMPRESSED) == "gzip 1 True\nbzip2 1 True\nxz 1 True\nTrue\n"


@pytest.mark.slow
def test_what_the_first_step_needs_is_imported_before_processes_are_forked() -> None:
    program = (
        "import sys; from farthest.worker import service; service.load(); before = set(sys.modules)\n"
        "import numpy\n"
        "from farthest.worker.app import KINDS, work_class\n"
        "for kind in KINDS: work_class(kind)\n"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
