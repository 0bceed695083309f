"""The compiler in an editor: what `trainform lsp` answers, and how.

An editor speaks the Language Server Protocol with one process, which lives as long as the editor and holds what it
knows of each repository in memory. The room has four kinds of modules.

`protocol/` is the only folder that imports pygls or lsprotocol. Its modules turn messages into calls of plain
functions, and plain answers into the protocol's types, so that all else can be tested, and used, without a server.

`project.py` holds one repository: the open buffers, and what every job file last said. A keystroke compiles the job
that it concerns; a change of something that jobs share compiles all of them again, those of open files first, in the
background. `units.py` has what is compiled at once, and kept. `project.py` gives a `RepositorySnapshot` to whoever
asks.

`snapshot.py` is what a feature sees: a `RepositorySnapshot` never changes. It reads the open buffers, not the disk, and
parses and compiles a file when it is first asked about it.

`features/<name>.py` answers one kind of question each. A feature is a pure function

    def hover(snapshot: RepositorySnapshot, file: str, at: Position) -> Hover | None

of a snapshot, a file (a path from the root of the repository, with `/`), and, if it needs one, a place. It returns
frozen dataclasses or NamedTuples of its own, with `Position` and `Span` in them. It never opens a file, never imports
pygls, and raises for nothing that a user can write: half-typed YAML is the usual input, and "nothing" is an answer.

Places. Three kinds of numbers meet here. The compiler counts lines and columns from 1, in code points
(`trainform.diagnostics.Position`). An editor counts both from 0, and columns in UTF-16 code units. `positions.py` is
the only module that knows about the second: it has `Place16`, what an editor says, and `Lines`, a text that converts
in both directions. The server converts at its border, so features see and return the compiler's positions only.

What a place is in YAML. A parser gives up at the first mistake, so features read outlines: `outline.py` has the
elements of a text that may be half typed, each with its place, and `place.py` says what stands at a cursor: a key of
a mapping, a value or an entry of a list, with its path (`("spec", "runtimeRef", "name")`) and what is typed of it.
`spans.py` says where an element of a parsed document stands. On outlines stand `links.py` (which value names which
object), `search.py` (where objects are declared, and who names them), `known.py` (the names that could be written)
and `fields.py` (what the schemas say of a field). `effect.py` compiles a job without an element, to tell what that
element does.

What a snapshot has:

    snapshot.root                       the repository, an absolute path
    snapshot.repository.settings        trainform.yaml
    snapshot.files                      every input file: runtimes, jobs, Environments with their facts, trainform.yaml
    snapshot.lines(file)                the text: of the buffer, or on disk; None if there is none
    snapshot.entries(file)              each document of a file, with its `role`: job, runtime, environment, fact, key,
                                        companion, generator, other; a template's are those of the first Environment
    snapshot.entry_at(file, at)         the document that holds a place
    snapshot.environments               each Environment with what its jobs share: `EnvironmentInputs`
    snapshot.shared(environment)        the same, sorted by kind: `Inputs` (facts, runtimes, keys), from the compiler
    snapshot.catalogue                  the shipped runtimes
    snapshot.jobs(file)                 each job of a file in each Environment: a `JobInEditor` with the `CompiledJob`,
                                        its fields with who set each (`fields()`, as `trainform explain` tells), facts
    snapshot.index                      every job of the repository, without its text: id, file, runtime
    snapshot.findings                   every problem of the last finished compile, by file

`jobs`, `entries` and `shared` cost a parse or a compile at the first call, and nothing afterwards. `index` and
`findings` come from the project, cost nothing, and may be a moment older than the text: a keystroke that is not
compiled yet changes `lines`, but not them. To find what refers to something among ten thousand jobs, search
`lines(file).text` for the name first, and call `entries` for the files that have it.

How to add a feature: write `features/<name>.py` with its function and dataclasses; test it in
`tests/unit/editor/test_<name>.py` with `marked(root, files)` from `tests/support/marked.py`, where `‸` in a file is the
cursor; then add the request to `wiring.py`: `features/` knows what to say, the server how to say it.
"""
