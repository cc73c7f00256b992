"""BLAS with one thread while models are trained: ours do the parallel work, with the same result for any number."""

from __future__ import annotations

import functools
import os
import threading
from typing import Any

from threadpoolctl import ThreadpoolController


class OneThread:
    """Several fits may be inside at a time, in threads of the caller's. The number of threads belongs to the process:
    the first to come sets it, and the last to go puts it back."""

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limits = _libraries().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()


@functools.cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # looking for them takes milliseconds


_one_thread = OneThread()


def one_blas_thread() -> OneThread:
    return _one_thread


def _forked() -> None:
    """Whoever was inside is so in the parent alone, where a thread may hold the lock."""
    global _one_thread
    _one_thread = OneThread()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
