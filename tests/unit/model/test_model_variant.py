"""Variants as they are written on the command line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.model.variant import Live, WrittenVariant, parse_live, parse_variant, without_credentials


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("wire:vllm", WrittenVariant(kind="wire", name="vllm")),
        ("recorded:some/dir", WrittenVariant(kind="recorded", name="some/dir")),
        ("recorded:a@b==1", WrittenVariant(kind="recorded", name="a@b==1")),
        ("http://host", WrittenVariant(kind="live", name="http://host")),
        ("HTTPS://u:p@host/x", WrittenVariant(kind="live", name="HTTPS://u:p@host/x")),
        ("renderers==0.1.12", WrittenVariant(kind="release", name="renderers", rest="0.1.12")),
        ("renderers==0.1.*", WrittenVariant(kind="range", name="renderers", rest="==0.1.*")),
        ("renderers>=0.1.8", WrittenVariant(kind="range", name="renderers", rest=">=0.1.8")),
        ("my-client >= 0.1.8, <0.1.12", WrittenVariant(kind="range", name="my-client", rest=">= 0.1.8, <0.1.12")),
        ("renderers~=0.1.8", WrittenVariant(kind="range", name="renderers", rest="~=0.1.8")),
        ("renderers!=0.1", WrittenVariant(kind="range", name="renderers", rest="!=0.1")),
        ("renderers<1", WrittenVariant(kind="range", name="renderers", rest="<1")),
        ("renderers@main", WrittenVariant(kind="code", name="renderers", rest="main")),
        ("renderers>>1", None),
        ("renderers>=", None),
        ("renderers>=1;x", None),
        ("renderers", None),
        ("@main", None),
        ("", None),
    ],
)
def test_variants_are_taken_apart(text: str, written: WrittenVariant | None) -> None:
    assert parse_variant(text) == written


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("http://127.0.0.1:80", ("http://127.0.0.1:80", "http://127.0.0.1:80/inference/v1/generate", None, True)),
        ("http://localhost/", ("http://localhost", "http://localhost/inference/v1/generate", None, True)),
        ("http://[::1]:9/x/", ("http://[::1]:9/x", "http://[::1]:9/x/", None, True)),
        ("https://u:p%40@host/v1/generate", ("https://host/v1/generate",) * 2 + ("u:p@", False)),
        ("https://u@host", ("https://host", "https://host/inference/v1/generate", "u:", False)),
    ],
)
def test_live_servers(text: str, live: tuple[str, str, str | None, bool]) -> None:
    found = parse_live(text)
    assert found is not None
    assert (found.url, found.endpoint, found.user, found.is_loopback) == live
    assert found.label == found.url
    assert found.user is None or found.user not in repr(found)


@pytest.mark.parametrize(
    "text",
    [
        *("http://", "http:///x", "http://host:99999", "http://host:port", "http://host?x=1", "http://host#x"),
        *("http://host/a b", "http://host/\n", "http://u:p/w@host", "http://u:80/w@host", "ftp://host", "host"),
        *("http://h\u00f6st", "http://[host"),
    ],
)
def test_what_is_no_live_server(text: str) -> None:
    assert parse_live(text) is None


@given(
    text=st.text(alphabet="/:@?#[]%ab1.\n ", max_size=20).map(lambda rest: f"http://{rest}"),
)
def test_no_credentials_survive(text: str) -> None:
    shown = without_credentials(text)
    assert "@" not in shown
    found = parse_live(text)
    assert found is None or isinstance(found, Live)
    assert found is None or "@" not in found.url + found.endpoint
