"""Says what of the user's environment uv and build backends need: these run code that is not the user's own.

A build backend gets whatever uv has, so there is one list for both. What is on it to reach indexes and git remotes may
hold credentials (`SSH_AUTH_SOCK`, `UV_INDEX_*_PASSWORD`, a proxy's URL): without them private sources cannot be locked
or built. All else, the tokens of forges, clouds and CI systems above all, stays with the user.
"""

import os

_NAMES = frozenset(
    {
        # Who and where.
        "HOME",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TEMP",
        "TERM",
        "TMP",
        "TMPDIR",
        "TZ",
        "USER",
        # Language.
        "LANG",
        "LANGUAGE",
        # The network: proxies, certificates, credentials of indexes and git remotes.
        "ALL_PROXY",
        "CURL_CA_BUNDLE",
        "DBUS_SESSION_BUS_ADDRESS",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NETRC",
        "NO_PROXY",
        "REQUESTS_CA_BUNDLE",
        "SSH_ASKPASS",
        "SSH_AUTH_SOCK",
        # Compilers, for source distributions.
        "AR",
        "CC",
        "CFLAGS",
        "CPATH",
        "CPPFLAGS",
        "CUDA_HOME",
        "CXX",
        "CXXFLAGS",
        "LD",
        "LDFLAGS",
        "LD_LIBRARY_PATH",
        "LIBRARY_PATH",
        "MACOSX_DEPLOYMENT_TARGET",
        "PKG_CONFIG_PATH",
        "SDKROOT",
    }
)
_PREFIXES = (
    "CARGO_HOME",
    "GIT_ALLOW_PROTOCOL",
    "GIT_ASKPASS",
    "GIT_CONFIG",
    "GIT_HTTP_",
    "GIT_PROXY_",
    "GIT_SSH",
    "GIT_SSL_",
    "GIT_TERMINAL_PROMPT",
    "LC_",
    "NIX_",
    "RUSTUP_",
    "SSL_",
    "UV_",
    "XDG_",
)
_KEPT_BACK = ("UV_GITHUB_TOKEN", "UV_PUBLISH_")


def needed_environment() -> dict[str, str]:
    """Returns what uv and build backends need of this process's environment."""
    return {name: value for name, value in os.environ.items() if _is_needed(name)}


def _is_needed(name: str) -> bool:
    # Proxies are written in small letters as well.
    return (name.upper() in _NAMES or name.startswith(_PREFIXES)) and not name.startswith(_KEPT_BACK)
