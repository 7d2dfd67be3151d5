"""Builds the package with nothing installed: a PEP 517 and PEP 660 backend on the standard library alone."""

import base64
import gzip
import hashlib
import io
import re
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" if (ROOT / "src").is_dir() else ROOT
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NAME = re.sub(r"[-_.]+", "_", PROJECT["name"]).lower()
WHEEL = "Wheel-Version: 1.0\nGenerator: pure_backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = Path(metadata_directory, f"{NAME}-{_version()}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(_metadata(), "utf-8")
    (info / "WHEEL").write_text(WHEEL, "utf-8")
    return info.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(Path(wheel_directory), _modules(SOURCE))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(Path(wheel_directory), {f"_{NAME}.pth": f"{SOURCE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    stem = f"{NAME}-{_version()}"
    files = {"PKG-INFO": _metadata().encode(), "pyproject.toml": (ROOT / "pyproject.toml").read_bytes()}
    files |= {f"{SOURCE.relative_to(ROOT) / path}": content for path, content in _modules(SOURCE).items()}
    files |= {"_backend/pure_backend.py": Path(__file__).read_bytes()}
    archive = Path(sdist_directory, f"{stem}.tar.gz")
    # The times are fixed so that the same files give the same archive, byte for byte.
    with gzip.GzipFile(archive, "wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for path, content in sorted(files.items()):
            member = tarfile.TarInfo(f"{stem}/{path}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return archive.name


def _write_wheel(directory, files):
    info = f"{NAME}-{_version()}.dist-info"
    files = {**files, f"{info}/METADATA": _metadata().encode(), f"{info}/WHEEL": WHEEL.encode()}
    record = [f"{path},sha256={_digest(content)},{len(content)}" for path, content in sorted(files.items())]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    wheel = directory / f"{NAME}-{_version()}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return wheel.name


def _modules(source):
    packages = sorted(path.parent for path in source.glob("*/__init__.py"))
    files = sorted(path for package in packages for path in package.rglob("*") if path.is_file())
    return {path.relative_to(source).as_posix(): path.read_bytes() for path in files if path.suffix != ".pyc"}


def _digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _metadata():
    lines = ["Metadata-Version: 2.3", f"Name: {PROJECT['name']}", f"Version: {_version()}"]
    lines += [f"Summary: {PROJECT['description']}", f"Requires-Python: {PROJECT['requires-python']}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in PROJECT.get("dependencies", [])]
    for extra, requirements in PROJECT.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        for requirement in requirements:
            name, _, marker = (part.strip() for part in requirement.partition(";"))
            condition = f"({marker}) and extra == '{extra}'" if marker else f"extra == '{extra}'"
            lines.append(f"Requires-Dist: {name}; {condition}")
    return "\n".join([*lines, ""])


def _version():
    if "version" in PROJECT:
        return PROJECT["version"]
    if (ROOT / "PKG-INFO").exists():
        return re.search(r"^Version: (.+)$", (ROOT / "PKG-INFO").read_text("utf-8"), re.MULTILINE)[1]
    # Without a repository of its own, git would answer for the one around it.
    if not (ROOT / ".git").exists():
        return "0.0.0"
    describe = ["git", "describe", "--tags", "--long", "--abbrev=7", "--match", "v[0-9]*", "--exclude", "*dev*"]
    try:
        described = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return "0.0.0"
    parts = re.fullmatch(r"v(\d+\.\d+\.)(\d+)-(\d+)-(g[0-9a-f]+)", described.strip())
    if parts is None:
        return "0.0.0"
    release, patch, distance, commit = parts.groups()
    if distance == "0":
        return f"{release}{patch}"
    return f"{release}{int(patch) + 1}.dev{distance}+{commit}"
