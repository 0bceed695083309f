"""The tables of `trainform capacity`."""

from trainform.review.capacity.kueue_facts import FlavorResource
from trainform.review.capacity.text import render_capacity
from trainform.review.capacity.verdicts import Capacity, JobVerdict, QueueUse

FOUND = Capacity(
    {"gpu": {FlavorResource("h100", "cpu"): QueueUse(1500, 0, 2000)}},
    [JobVerdict("ml", "a", "team", "never", "too much"), JobVerdict("ml", "bert", "team", "fits")],
)


def test_several_environments_have_their_names():
    text = render_capacity({"dev": FOUND, "prod": Capacity({}, [])}, colour=False)
    assert text == (
        "environment dev\n"
        "\n"
        "QUEUE  FLAVOR  RESOURCE  NOMINAL  BORROWABLE  ASKED\n"
        "gpu    h100    cpu       1500m    0           2\n"
        "\n"
        "JOB      QUEUE  VERDICT  REASON\n"
        "ml/a     team   never    too much\n"
        "ml/bert  team   fits\n"
        "\n"
        "environment prod\n"
        "\n"
    )


def test_colour_marks_verdicts_and_what_is_asked_in_excess():
    plain = render_capacity({"dev": FOUND}, colour=False)
    text = render_capacity({"dev": FOUND}, colour=True)
    assert "\x1b[33m2\x1b[0m" in text
    assert "\x1b[31m\x1b[1mnever\x1b[0m    too much" in text
    assert "\x1b" not in plain
