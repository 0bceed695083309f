"""The command line as a whole: help, exit codes, and what happens when we are at fault."""

from __future__ import annotations

import errno
import gc
import io
import os
import signal
import subprocess
import sys

import click
import pytest

import trainform as package
from benchmarks.generate import TORCH, Job, runtime_text
from support.repositories import Repository, environment
from trainform import __version__
from trainform.cli import main as entry
from trainform.cli.app import COMMANDS

SLOW = ("pydantic", "yaml", "jsonschema", "jsonschema_rs", "jinja2", "kubernetes", "torch", "difflib", "json")


def python(code: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **options)


def test_the_version(trainform):
    assert trainform("--version") == (0, f"trainform {__version__}\n", "")


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_what_is_asked_often_imports_nothing_slow(argument):
    code = (
        "import sys; from trainform.cli.main import run; "
        f"assert run([{argument!r}]) == 0; print(*[m for m in {SLOW} if m in sys.modules], file=sys.stderr)"
    )
    assert python(code).stderr.split() == []


def test_the_version_needs_no_module_but_those_that_python_starts_with():
    root = os.path.dirname(os.path.dirname(package.__file__))
    code = f"import sys, os, types; sys.path.insert(0, {root!r}); from trainform.cli.main import run; "
    code += "before = {*sys.modules}; run(['--version']); print(*{*sys.modules} - before, 'typing' in sys.modules)"
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[1:] == ["False"]


UNUSED = (
    # For a stream without problems, that is: whatever a run does not need is not imported for it.
    *("jsonschema_rs", "jsonschema", "jinja2", "kubernetes", "traceback", "unicodedata", "shlex", "difflib"),
    *("asyncio", "filelock", "logging", "pickle", "ssl", "subprocess", "yaml"),
    *("trainform.api.environment", "trainform.api.generator", "trainform.api.scheduling", "trainform.api.selectors"),
    *("trainform.api.hints", "trainform.api.validation_errors", "trainform.diagnostics.text"),
    *("trainform.api.unselected", "trainform.core.beside.adoption", "trainform.core.cluster.contents"),
    *("trainform.core.cluster.declared", "trainform.core.patches", "trainform.k8s.cluster.releases"),
    *("trainform.io.git", "trainform.io.paths", "trainform.io.repository", "trainform.io.settings", "trainform.review"),
    *("trainform.k8s.patch", "trainform.source.parser", "trainform.source.marks", "trainform.source.comments"),
    *("trainform.output.layout", "trainform.workspace.discovery", "trainform.workspace.fingerprint"),
    "trainform.workspace.lockfile",
)

PACKAGES = {"click", "trainform", "trainform_plugins"} | {
    # pydantic, and what it imports
    *("annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection")
}
"""All that may be imported for a stream without problems, beside the standard library."""

MOST_MODULES = {"render": 168, "validate": 167}
"""Of trainform and its plugins, for the same. Each takes 0.2 to 1 ms of every start: one more needs a reason."""


@pytest.mark.parametrize(("command", "told"), [("render", "kind: JobSet"), ("validate", "no problems")])
def test_a_stream_without_problems_imports_only_what_it_needs(command, told):
    stream = f"{runtime_text(TORCH)}---\n{Job(1, TORCH).text()}"
    code = (
        "import sys; from trainform.cli.main import run; "
        f"assert run([{command!r}, '-']) == 0; print(*[m for m in {UNUSED} if m in sys.modules], file=sys.stderr)"
    )
    ran = python(code, input=stream)
    assert ran.stderr.split() == []
    assert told in ran.stdout


@pytest.mark.parametrize("command", MOST_MODULES)
def test_models_are_imported_before_plugins(command):
    """Plugins are loaded deep in the calls. There, CPython may map and unmap a chunk of its stack for each call that an
    import of pydantic makes."""
    code = (
        f"import sys; from trainform.cli.main import run; run([{command!r}, '-']); print(*sys.modules, file=sys.stderr)"
    )
    modules = python(code, input=f"{runtime_text(TORCH)}---\n{Job(1, TORCH).text()}").stderr.split()
    assert modules.index("pydantic.main") < modules.index("trainform_plugins")


@pytest.mark.parametrize(("command", "most"), MOST_MODULES.items())
def test_a_stream_without_problems_imports_few_packages_and_modules(command, most):
    stream = f"{runtime_text(TORCH)}---\n{Job(1, TORCH).text()}"
    code = (
        "import sys; before = {*sys.modules}; from trainform.cli.main import run; "
        f"assert run([{command!r}, '-']) == 0; print(*{{*sys.modules}} - before, file=sys.stderr)"
    )
    modules = python(code, input=stream).stderr.split()
    packages = {name.partition(".")[0] for name in modules if not name.startswith(("_", "cython_runtime"))}
    assert packages - sys.stdlib_module_names <= PACKAGES
    ours = [name for name in modules if name.startswith("trainform")]
    assert 100 < len(ours) <= most


def test_the_help_lists_every_command(trainform):
    out = trainform("--help").out
    assert [name for name in COMMANDS if f"\n  {name} " not in out] == []


@pytest.mark.parametrize("group", [[], ["facts"], ["job"], ["runtimes"], ["cmp"]])
def test_no_line_about_a_command_is_cut_off(trainform, group):
    _, _, listed = trainform(*group, "--help").out.partition("\nCommands:\n")
    assert listed
    assert [line for line in listed.splitlines() if line.endswith("...")] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(trainform, command):
    ran = trainform(command, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: trainform {command}")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["rendr"], 'Error: no command "rendr": did you mean "render"?'),
        (["zzz"], 'Error: no command "zzz": the commands are capacity, check, '),
        (["render", "--kep-going"], "No such option"),
        (["validate", "--format", "xml"], "'xml' is not one of"),
    ],
)
def test_a_wrong_command_line_ends_with_2(trainform, arguments, told):
    ran = trainform(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(trainform, shell):
    ran = trainform("completion", shell)
    assert ran.code == 0
    assert f"_TRAINFORM_COMPLETE={shell}_complete" in ran.out


def test_completion_completes():
    environment = os.environ | {
        "_TRAINFORM_COMPLETE": "bash_complete",
        "COMP_WORDS": "trainform ren",
        "COMP_CWORD": "1",
    }
    assert "render" in python("from trainform.cli.main import main; main()", env=environment).stdout


@pytest.fixture
def broken(monkeypatch):
    def fail(*arguments):
        raise KeyError("spec")

    monkeypatch.setattr("trainform.workspace.validate.validate", fail)


def test_a_bug_of_ours_ends_with_70_and_asks_for_a_report(trainform, broken):
    ran = trainform("validate")
    assert (ran.code, ran.out) == (70, "")
    assert ran.err.startswith("trainform: internal error: KeyError: 'spec'\nThis is a bug in trainform")
    assert "TRAINFORM_DEBUG=1" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", ["jobs/llm", b"jobs/llm"])
def test_an_error_of_the_machine_is_no_bug(trainform, monkeypatch, name):
    def fail(*arguments):
        raise OSError(errno.EIO, "Input/output error", name)

    monkeypatch.setattr("trainform.workspace.validate.validate", fail)
    assert trainform("validate") == (2, "", "trainform: error: jobs/llm: Input/output error\n")


def test_a_bug_shows_its_traceback_when_asked(trainform, broken, monkeypatch):
    monkeypatch.setenv("TRAINFORM_DEBUG", "1")
    assert "Traceback (most recent call last)" in trainform("validate").err


def test_a_plugin_that_cannot_be_used_is_named(trainform, monkeypatch):
    from trainform.core.registry import PluginError

    def fail(entry_points):
        raise PluginError("plugin 'acme' cannot be loaded: no module named 'acme'")

    monkeypatch.setattr("trainform.installed.loaded", fail)
    ran = trainform("validate")
    assert (ran.code, ran.err) == (2, "Error: plugin 'acme' cannot be loaded: no module named 'acme'\n")


def test_ctrl_c_ends_with_130_and_no_traceback(trainform, monkeypatch):
    def interrupted(data):
        raise KeyboardInterrupt

    monkeypatch.setattr("trainform.workspace.inputs.read_stream", interrupted)
    assert trainform("render", "-") == (130, "", "\n")


def test_a_closed_pipe_is_quiet():
    code = "from trainform.cli.main import main; import sys; sys.argv = ['trainform', '--help']; main()"
    read_end, write_end = os.pipe()
    os.close(read_end)
    ran = subprocess.run([sys.executable, "-c", code], stdout=write_end, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write_end)
    assert (ran.returncode, ran.stderr) == (-signal.SIGPIPE, "")


@pytest.mark.parametrize(
    ("command_line", "code", "told"),
    [
        ("--version > /dev/full", 2, "trainform: error: standard input or output: No space left on device\n"),
        ("runtimes > /dev/full", 2, "trainform: error: standard input or output: No space left on device\n"),
        ("runtimes >&-", 0, ""),
        ("runtimes > /dev/null 2>&-", 0, ""),
        ("validate - <&- > /dev/null", 2, ""),
    ],
)
def test_a_full_disk_or_a_closed_stream_is_no_bug_of_ours(command_line, code, told):
    shell = f"{sys.executable} -m trainform {command_line}"
    ran = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (code, told)


def test_plugins_of_pydantic_have_no_part_in_a_compile(tmp_path):
    """Whatever is installed beside trainform."""
    info = tmp_path / "spy-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pydantic]\nspy = spy:plugin\n")
    (tmp_path / "spy.py").write_text("print('loaded')\nplugin = None\n")
    (tmp_path / "job.yaml").write_text("kind: TrainJob\napiVersion: trainer.kubeflow.org/v1alpha1\n")
    command = [sys.executable, "-m", "trainform", "validate", "job.yaml"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, "loaded" in ran.stdout) == (2, False)
    assert "TF" in ran.stdout


class _Ended(BaseException):
    """Instead of the end of the process."""


@pytest.fixture
def command_line(monkeypatch):
    """The whole entry point in this process; returns the exit code."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["trainform", *arguments])
        with pytest.raises(_Ended) as ended:
            entry.main()
        return ended.value.args[0]

    def end(code):
        raise _Ended(code)

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setenv("PYDANTIC_DISABLE_PLUGINS", "")
    handler = signal.getsignal(signal.SIGPIPE)
    yield call
    signal.signal(signal.SIGPIPE, handler)
    gc.enable()


def test_the_entry_point_ends_with_the_code_of_the_command(command_line, capfd, monkeypatch):
    assert command_line("--version") == 0
    assert capfd.readouterr().out == f"trainform {__version__}\n"
    assert command_line("nonsense") == 2
    assert (gc.isenabled(), os.environ["PYDANTIC_DISABLE_PLUGINS"]) == (False, "__all__")
    assert signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL
    assert (sys.stdout.errors, sys.stderr.errors) == ("backslashreplace", "backslashreplace")


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_a_closed_stream_is_an_empty_one(command_line, monkeypatch, name):
    monkeypatch.setattr(sys, name, None)
    assert command_line("runtimes") == 0
    with getattr(sys, name) as opened:
        assert opened.name == os.devnull


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), BrokenPipeError()])
def test_a_stream_that_cannot_be_flushed_at_the_end_changes_no_code(command_line, monkeypatch, error):
    class Full(io.StringIO):
        def reconfigure(self, **options):
            """As every stream of text."""

        def flush(self):
            raise error

    monkeypatch.setattr(sys, "stderr", Full())
    assert command_line("--version") == 0


def test_an_interrupted_prompt_ends_with_130(trainform, monkeypatch):
    def interrupted(*arguments, **options):
        raise click.Abort

    monkeypatch.setattr("trainform.cli.app.app.main", interrupted)
    assert trainform("render").code == 130


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("status", "name one of lab, prod with --env"),
        ("facts pull", "name one of lab, prod with --env"),
        ("diff --live", "name one of lab, prod with --env"),
        ("run llm", "ml/llm is in 2 environments: lab, prod; choose one with --env"),
        ("job new another", 'say what runs, such as --command "torchrun train.py"'),
        ("init new --scheduler kueue", "kueue needs the LocalQueue of the jobs: name it with --queue"),
        ("init new --secrets sops", "--secrets sops and --recipient belong together"),
        ("ci", "ci compares with a commit of git, and this is not a git repository"),
        ("diff", "diff compares with a commit of git, and this is not a git repository"),
    ],
)
def test_an_option_that_is_not_there_is_not_called_invalid(root, trainform, words, told):
    for name in ("lab", "prod"):
        Repository(root).write(f"environments/{name}/environment.yaml", environment().replace("prod", name))
    ran = trainform(*words.split())
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert "Invalid value" not in ran.err
