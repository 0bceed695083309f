"""Key Secrets: provides the keys of MPI and Flux jobs, as set by the Environment's `secrets`. No mode renders an
unencrypted private key, and messages quote only names from a key file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from trainform.plugin import Plan, Plugin, SecretNeed, Tree, is_in_the_clear, table, tables

GENERATORS = "generators.external-secrets.io/v1alpha1"
TEMPLATE = {"ssh-privatekey": "{{ .privateKey }}", "ssh-publickey": "{{ .publicKey }}"}
"""Keys of the Secret, from an SSHKey generator's output."""


class Secrets(Plugin):
    """Renders the objects that provide the Secrets requested with `plan.need_secret`."""

    name = "secrets"

    def build(self, plan: Plan) -> Iterable[Tree]:
        if not plan.secrets:
            return ()
        render = MODES[plan.environment.spec.secrets.mode]
        return [tree for need in plan.secrets if _safe(plan, need) for tree in render(plan, need)]


def _safe(plan: Plan, need: SecretNeed) -> bool:
    """Whether the Secret has no plaintext key; one is an error in every mode."""
    tree = plan.keys.get(need.id)
    if tree is None or not is_in_the_clear(tree):
        return True
    plan.report(
        "TF156",
        f"the repository contains an unencrypted key of Secret {need.name}",
        hint="consider it compromised: remove the file and create new keys",
        path=("metadata", "name"),
    )
    return False


def _reference(plan: Plan, need: SecretNeed) -> list[Tree]:
    """D10: no key is generated here, so that none ends up in git."""
    if not plan.failed:
        what, hint = _by_hand(need)
        plan.report(
            "TF320",
            f"Secret {need.name} must exist in namespace {need.namespace}: {what}",
            severity="info",
            hint=f"the pods wait until it exists{hint}",
            path=("metadata", "name"),
        )
    return []


def _by_hand(need: SecretNeed) -> tuple[str, str]:
    """What the Secret contains, and how to create it."""
    if need.kind == "ssh":
        hint = "; the controller would generate the keys itself"
        return f"type {need.type}, keys {' and '.join(need.keys)}", hint
    create = f"kubectl -n {need.namespace} create secret generic {need.name} --from-file=curve.cert"
    return "key curve.cert, created by `flux keygen`", f": flux keygen curve.cert && {create}"


def _external(plan: Plan, need: SecretNeed) -> list[Tree]:
    store = plan.environment.spec.secrets.store
    if store is not None:
        return _stored(plan, need, store)
    if need.kind == "curve":
        _refuse(
            plan,
            f"External Secrets cannot generate the CURVE certificate of Secret {need.name}",
            "set spec.secrets.store to a store that has one, or choose another mode",
        )
        return []
    reference = {"apiVersion": GENERATORS, "kind": "SSHKey", "name": need.name}
    template = {
        "type": need.type,
        "engineVersion": "v2",
        "mergePolicy": "Replace",
        "data": {key: TEMPLATE[key] for key in need.keys},
    }
    source = {"dataFrom": [{"sourceRef": {"generatorRef": reference}}]}
    return [_generator(need), _external_secret(need, template, source)]


def _generator(need: SecretNeed) -> Tree:
    """Ed25519 is the only kind other than RSA that every release with SSHKey supports."""
    metadata = {"name": need.name, "namespace": need.namespace}
    return {"apiVersion": GENERATORS, "kind": "SSHKey", "metadata": metadata, "spec": {"keyType": "ed25519"}}


def _stored(plan: Plan, need: SecretNeed, store: Tree) -> list[Tree]:
    """The Secret from a store: entry `<namespace>-<name>`, with a property per key."""
    name, kind = store.get("name"), store.get("kind", "SecretStore")
    if not isinstance(name, str) or kind not in ("SecretStore", "ClusterSecretStore"):
        _refuse(
            plan,
            "does not name a store",
            "write store: {name: vault, kind: ClusterSecretStore}, or kind: SecretStore",
            field="store",
        )
        return []
    entry = f"{need.namespace}-{need.name}"
    template = {"type": need.type, "engineVersion": "v2", "mergePolicy": "Replace"}
    source = {
        "secretStoreRef": {"name": name, "kind": kind},
        "data": [{"secretKey": key, "remoteRef": _remote(entry, key)} for key in need.keys],
    }
    return [_external_secret(need, template, source)]


def _remote(entry: str, key: str) -> Tree:
    defaults = {"conversionStrategy": "Default", "decodingStrategy": "None", "metadataPolicy": "None"}
    return {"key": entry, "property": key, **defaults}


def _external_secret(need: SecretNeed, template: Tree, source: Tree) -> Tree:
    """An ExternalSecret with its defaults written out, as the API server stores it. Created once and immutable: without
    either, keys would change under a running job."""
    target = {
        "name": need.name,
        "creationPolicy": "Owner",
        "deletionPolicy": "Retain",
        "immutable": True,
        "template": template,
    }
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": need.name, "namespace": need.namespace},
        "spec": {"refreshPolicy": "CreatedOnce", "refreshInterval": "1h0m0s", "target": target, **source},
    }


def _sealed(plan: Plan, need: SecretNeed) -> list[Tree]:
    tree = _key_file(plan, need, "SealedSecret")
    if tree is None:
        return []
    template = table(table(tree, "spec"), "template")
    sealed = table(table(tree, "spec"), "encryptedData")
    metadata = {**table(tree, "metadata"), **table(template, "metadata")}
    other = f"{metadata.get('namespace')}/{metadata.get('name')}"
    if other != f"{need.namespace}/{need.name}":
        _misfit(plan, need, f"was sealed for {other} and cannot be decrypted under another name")
        return []
    return [tree] if _has_keys(plan, need, sealed) else []


def _sops(plan: Plan, need: SecretNeed) -> list[Tree]:
    if plan.environment.spec.gitops.engine == "argocd":
        _refuse(
            plan,
            f"Argo CD cannot decrypt Secret {need.name}: it does not support SOPS",
            "choose mode sealed-secret or external-secret, or engine flux",
        )
        return []
    tree = _key_file(plan, need, "Secret")
    if tree is None or not _has_keys(plan, need, {**table(tree, "data"), **table(tree, "stringData")}):
        return []
    known = _recipients(tree)
    wanted = plan.environment.spec.secrets.recipients
    missing = [recipient for recipient in wanted if recipient not in known]
    if missing:
        _misfit(plan, need, f"is not encrypted for {', '.join(missing)}")
    return [] if missing else [tree]


def _recipients(tree: Tree) -> list[object]:
    return [entry.get("recipient") for entry in tables(table(tree, "sops"), "age")]


def _key_file(plan: Plan, need: SecretNeed, kind: str) -> Tree | None:
    """The encrypted object for `need`, or None if it is missing or of another kind."""
    tree = plan.keys.get(need.id)
    if tree is None:
        plan.report(
            "TF324",
            f"Secret {need.name} in namespace {need.namespace} has no key file",
            hint=f"run `{_command(plan)}` and commit keys/{need.file} in the Environment's folder",
            path=("metadata", "name"),
        )
    elif tree["kind"] != kind:
        _misfit(plan, need, f"is a {tree['kind']}, but this mode needs a {kind}")
    elif table(tree, "metadata").get("namespace") != need.namespace:
        _misfit(plan, need, "does not set a namespace")
    else:
        return tree
    return None


def _has_keys(plan: Plan, need: SecretNeed, values: Tree) -> bool:
    missing = [key for key in need.keys if not values.get(key)]
    if missing:
        _misfit(plan, need, f"lacks {' and '.join(missing)}")
    return not missing


def _misfit(plan: Plan, need: SecretNeed, what: str) -> None:
    plan.report(
        "TF325",
        f"the key file of Secret {need.name} {what}",
        hint=f"remove it and run `{_command(plan)}` to create new keys",
        path=("metadata", "name"),
    )


def _refuse(plan: Plan, message: str, hint: str, field: str = "mode") -> None:
    """Report at the Environment, which sets the mode, that the mode cannot be used."""
    plan.report("TF326", message, hint=hint, source=("environment", ("spec", "secrets", field)))


def _command(plan: Plan) -> str:
    return f"trainform keys {plan.namespace}/{plan.stable_name}"


MODES: dict[str, Callable[[Plan, SecretNeed], list[Tree]]] = {
    "reference": _reference,
    "external-secret": _external,
    "sealed-secret": _sealed,
    "sops": _sops,
}
