"""What a run leaves behind in the process that started it."""

from __future__ import annotations

import asyncio
import signal

import pytest

from trainform.local.supervisor import SIGNALS, signals_restored


@pytest.mark.parametrize("number", SIGNALS, ids=lambda each: each.name)
def test_a_signal_is_handled_as_before_the_run(number):
    async def run() -> None:
        asyncio.get_running_loop().add_signal_handler(number, lambda: None)

    before = signal.signal(number, signal.SIG_IGN)
    try:
        with signals_restored():
            asyncio.run(run())
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)
