"""One run at a time."""

from __future__ import annotations

import threading

from trainform.io import lock as claim


def test_a_second_run_waits_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(claim, "PATIENCE", 0.05)
    entered = threading.Event()

    def second():
        with claim.claimed(str(tmp_path)):
            entered.set()

    with claim.claimed(str(tmp_path)):
        thread = threading.Thread(target=second)
        thread.start()
        assert not entered.wait(0.2)
    thread.join(5)
    assert entered.is_set()
    assert capsys.readouterr().err == "waiting for another trainform run in this repository\n"


def test_a_run_alone_says_nothing_and_leaves_nothing(tmp_path, capsys):
    with claim.claimed(str(tmp_path)):
        pass
    assert capsys.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []
