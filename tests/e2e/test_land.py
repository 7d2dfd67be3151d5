"""Lands packed-generate in the embedded stack, as a user would."""

import json

from support import Demo, Git, Pinctl


def test_the_landing_is_one_commit_on_the_tip_of_main(demo: Demo, pinctl: Pinctl, git: Git) -> None:
    result = pinctl("land", "packed-generate", "--format", "json", cwd=demo.superproject)

    assert result.status == 0, result.stderr
    landing = json.loads(result.stdout)
    main = git(demo.superproject, "rev-parse", "main")
    assert landing["branch"] == "landing/packed-generate"
    assert landing["parent"] == main
    assert not landing["already_landed"]
    assert git(demo.superproject, "rev-parse", "landing/packed-generate") == landing["commit"]
    assert git(demo.superproject, "rev-parse", "landing/packed-generate^@") == main
