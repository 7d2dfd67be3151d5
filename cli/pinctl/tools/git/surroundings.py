"""Keeps a surrounding git command, such as a hook, from answering for the repositories that pinctl asks about."""

import os
from pathlib import Path

# What `git rev-parse --local-env-vars` names, less the configuration that a user passes on purpose. A hook exports
# these, and with them every question about another repository would be answered for the hook's own.
_LOCAL_VARIABLES = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
)


_exported: dict[str, str] = {}


def forget_inherited_repository() -> None:
    """Drops the variables by which a surrounding git command (a hook) names its own repository."""
    for name in _LOCAL_VARIABLES:
        value = os.environ.pop(name, None)
        if value is not None:
            _exported[name] = str(Path(value).absolute()) if name == "GIT_INDEX_FILE" else value


def exported_index() -> str | None:
    """Returns the index that a surrounding `git commit` is making; None outside one."""
    return _exported.get("GIT_INDEX_FILE")
