"""Changes of a repository of thirteen jobs in two environments, each of a few jobs or of what may concern all."""

from __future__ import annotations

import shutil

from support.repositories import Repository, environment, job, runtime

TWO = job("two-a") + "---\n" + job("two-b")


def write_jobs(place: Repository) -> None:
    place.write("runtimes/torch.yaml", runtime())
    place.write("environments/prod/environment.yaml", environment())
    place.write("environments/test/environment.yaml", environment().replace("prod", "test"))
    for number in range(11):
        place.write(file_of(number), job(f"job-{number}"))
    place.write("jobs/two.yaml", TWO)


def file_of(number: int) -> str:
    """One has a name that not everything prints: a no-break space, and a letter beyond ASCII."""
    return "jobs/j\u00a0\u00f6b.yaml" if number == 10 else f"jobs/job-{number}.yaml"


def nothing(place: Repository) -> None: ...


def edit(place: Repository) -> None:
    place.write("jobs/job-3.yaml", job("job-3", nodes=5))


def edit_and_commit(place: Repository) -> None:
    edit(place)
    place.commit()


def delete(place: Repository) -> None:
    (place.root / "jobs/job-3.yaml").unlink()


def delete_and_commit(place: Repository) -> None:
    delete(place)
    place.commit()


def add(place: Repository) -> None:
    place.write("jobs/sub/new.yaml", job("new"))


def ignored(place: Repository) -> None:
    place.write(".gitignore", "jobs/sub/\n")
    place.commit()
    add(place)


def move(place: Repository) -> None:
    (place.root / "jobs/job-3.yaml").rename(place.root / "jobs/moved.yaml")


def rename(place: Repository) -> None:
    place.write("jobs/job-3.yaml", job("other"))


def one_of_two_goes(place: Repository) -> None:
    place.write("jobs/two.yaml", job("two-b"))


def one_of_two_moves(place: Repository) -> None:
    place.write("jobs/two.yaml", job("two-b"))
    place.write("jobs/job-3.yaml", job("job-3") + "---\n" + job("two-a"))


def a_name_twice(place: Repository) -> None:
    place.write("jobs/another.yaml", job("two-a"))


def a_name_twice_in_a_changed_file(place: Repository) -> None:
    place.write("jobs/job-3.yaml", job("job-4"))


def broken(place: Repository) -> None:
    place.write("jobs/job-3.yaml", "kind: [")


def wrong(place: Repository) -> None:
    place.write("jobs/job-3.yaml", job("job-3", nodes="many"))


def edit_by_hand(place: Repository) -> None:
    place.write("rendered/prod/ml/job-3/jobset-job-3.yaml", "by: hand\n")


def foreign(place: Repository) -> None:
    place.write("rendered/prod/ml/job-3/foreign.yaml", "by: hand\n")
    place.write("rendered/prod/stray.yaml", "by: hand\n")


def output_is_gone(place: Repository) -> None:
    shutil.rmtree(place.root / "rendered/prod/ml/job-3")


def lock_is_gone(place: Repository) -> None:
    (place.root / ".trainform/locks/prod/ml/job-3.lock").unlink()


def all_of_a_job_is_gone(place: Repository) -> None:
    output_is_gone(place)
    lock_is_gone(place)


def lock_is_broken(place: Repository) -> None:
    place.write(".trainform/locks/prod/ml/job-3.lock", "{")


def the_file_of_a_namespace_is_gone(place: Repository) -> None:
    (place.root / "rendered/prod/ml/.gitkeep").unlink()


def a_snapshot_is_gone(place: Repository) -> None:
    for file in (place.root / ".trainform/snapshots").iterdir():
        file.unlink()


def edit_the_runtime(place: Repository) -> None:
    place.write("runtimes/torch.yaml", runtime("registry.example.com/train:2"))


def edit_an_environment(place: Repository) -> None:
    place.write("environments/prod/environment.yaml", environment(naming="content-hash"))


def a_runtime_among_the_jobs(place: Repository) -> None:
    place.write("jobs/job-3.yaml", job("job-3") + "---\n" + runtime().replace("name: torch\n", "name: own\n"))


def a_template(place: Repository) -> None:
    place.write("jobs/made.yaml.j2", job("made"))


def settings(place: Repository) -> None:
    place.write("trainform.yaml", "jobs: jobs/sub\n")


def every_job(place: Repository) -> None:
    for number in range(11):
        place.write(file_of(number), job(f"job-{number}", nodes=5))


def an_odd_name_goes(place: Repository) -> None:
    (place.root / file_of(10)).unlink()


def an_odd_name_has_another_job(place: Repository) -> None:
    place.write(file_of(10), job("other"))


def a_file_below_the_folder_of_a_job(place: Repository) -> None:
    place.write("rendered/prod/ml/job-3/sub/a.yaml", "by: hand\n")


def other_ends_of_lines(place: Repository) -> None:
    file = place.root / "rendered/prod/ml/job-3/jobset-job-3.yaml"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))


def a_link_that_leads_out(place: Repository) -> None:
    outside = place.root.parent / "outside.yaml"
    outside.write_text(job("job-3"))
    (place.root / "jobs/job-3.yaml").unlink()
    (place.root / "jobs/job-3.yaml").symlink_to(outside)


def a_folder_that_leads_out(place: Repository) -> None:
    outside = place.root.parent / "outside"
    outside.mkdir(exist_ok=True)
    (place.root / "jobs/out").symlink_to(outside)


def jobs_behind_a_link(place: Repository) -> None:
    place.write("elsewhere/new.yaml", job("new"))
    (place.root / "jobs/linked").symlink_to("../elsewhere")


def jobs_of_another_repository(place: Repository) -> None:
    place.write("jobs/nested/new.yaml", job("new"))
    place.git("init", "--quiet", "jobs/nested")


def output_behind_a_link(place: Repository) -> None:
    (place.root / "rendered/prod/ml").rename(place.root / "elsewhere")
    (place.root / "rendered/prod/ml").symlink_to("../../elsewhere")


def a_part_of_a_checkout(place: Repository) -> None:
    place.git("sparse-checkout", "set", "--no-cone", "/*", "!/jobs/job-3.yaml")


def other_attributes(place: Repository) -> None:
    place.write("jobs/.gitattributes", "*.yaml text\n")


def add_a_manifest(place: Repository) -> None:
    place.write("rendered/prod/ml/job-3/jobset-other.yaml", "kind: JobSet\n")


def edit_a_lock(place: Repository) -> None:
    file = place.root / ".trainform/locks/prod/ml/job-3.lock"
    file.write_text(file.read_text().replace("jobs/job-3.yaml", "jobs/job-4.yaml"))


def a_run_was_interrupted(place: Repository) -> None:
    file = place.root / ".trainform/locks/prod/ml/job-3.lock"
    file.write_text(file.read_text().rstrip().removesuffix("}") + ', "previous": null}\n')


def a_comment(place: Repository) -> None:
    place.write("jobs/job-3.yaml", "# as it was\n" + job("job-3"))


def another_file_of_the_same_bytes(place: Repository) -> None:
    file = place.root / "jobs/job-3.yaml"
    text = file.read_text()
    file.unlink()
    file.write_text(text)


def an_environment_goes(place: Repository) -> None:
    shutil.rmtree(place.root / "environments/test")


def an_environment_of_its_own_namespace(place: Repository) -> None:
    place.write("environments/prod/environment.yaml", environment() + "  namespace: other\n")


def an_environment_that_selects_by_label(place: Repository) -> None:
    """None of the jobs has the label."""
    place.write(
        "environments/prod/environment.yaml", environment() + "  jobs: {selector: {matchLabels: {team: research}}}\n"
    )


def an_environment_changes_and_the_snapshots_are_gone(place: Repository) -> None:
    edit_an_environment(place)
    a_snapshot_is_gone(place)


def other_values(place: Repository) -> None:
    place.write("jobs/made.yaml.j2", job("made").replace("numNodes: 2", "numNodes: {{ env.nodes }}"))
    place.write("environments/prod/environment.yaml", environment() + "  values: {nodes: 3}\n")


def settings_of_output(place: Repository) -> None:
    place.write("trainform.yaml", "rendered: elsewhere\n")


def a_link_for_a_folder(place: Repository) -> None:
    shutil.move(place.root / "rendered/prod", place.root / "elsewhere")
    (place.root / "rendered/prod").symlink_to("../elsewhere")


def output_outside_of_the_repository(place: Repository) -> None:
    outside = place.root.parent / "outside"
    (place.root / "rendered/prod/ml").rename(outside)
    (place.root / "rendered/prod/ml").symlink_to(outside)


def locks_outside_of_the_repository(place: Repository) -> None:
    outside = place.root.parent / "outside"
    (place.root / ".trainform/locks/prod/ml").rename(outside)
    (place.root / ".trainform/locks/prod/ml").symlink_to(outside)


def a_snapshot_is_edited(place: Repository) -> None:
    for file in (place.root / ".trainform/snapshots").iterdir():
        file.write_text(file.read_text() + "# by hand\n")


def a_key_in_the_clear(place: Repository) -> None:
    key = "apiVersion: v1\nkind: Secret\nmetadata: {name: job-3-mpi-ssh-auth, namespace: ml}\n"
    place.write(
        "environments/prod/keys/key.yaml", key + "type: kubernetes.io/ssh-auth\nstringData: {ssh-privatekey: x}\n"
    )


FEW = [nothing, edit, edit_and_commit, delete, delete_and_commit, add, ignored, move, rename, one_of_two_goes]
FEW += [one_of_two_moves, broken, wrong, edit_by_hand, foreign]
FEW += [output_is_gone, lock_is_gone, all_of_a_job_is_gone, lock_is_broken, the_file_of_a_namespace_is_gone]
FEW += [an_odd_name_goes, an_odd_name_has_another_job, a_file_below_the_folder_of_a_job, other_ends_of_lines]
ALL = [
    a_name_twice,
    a_name_twice_in_a_changed_file,
    a_snapshot_is_gone,
    edit_the_runtime,
    edit_an_environment,
    a_runtime_among_the_jobs,
    a_template,
    settings,
]
ALL += [every_job, a_link_that_leads_out, a_folder_that_leads_out, jobs_behind_a_link, jobs_of_another_repository]
ALL += [output_behind_a_link, a_part_of_a_checkout, other_attributes]
FEW += [add_a_manifest, edit_a_lock, a_run_was_interrupted, a_comment, another_file_of_the_same_bytes]
ALL += [an_environment_goes, an_environment_of_its_own_namespace, other_values, settings_of_output, a_link_for_a_folder]
ALL += [an_environment_that_selects_by_label, an_environment_changes_and_the_snapshots_are_gone]
ALL += [output_outside_of_the_repository, locks_outside_of_the_repository, a_snapshot_is_edited, a_key_in_the_clear]
