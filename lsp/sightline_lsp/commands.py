"""Which program a server's command means, and the environment it runs in.

**Invariant**: nothing inside a workspace is ever found by name: neither a program nor a PATH entry that a server
would look into. The one directory exempt is that of the Python that runs Sightline, because its code runs already.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from sightline_core.paths import relative_to

# What a server may need to find its tools, caches and proxies; everything else, tokens above all, stays here.
_PASSED = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP"),
        *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"),
        *("JAVA_HOME", "GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GONOPROXY"),
        *("GOPRIVATE", "GOSUMDB", "GOTOOLCHAIN", "GOWORK", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"),
        *("DOTNET_ROOT", "GEM_HOME", "GEM_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "NIX_PATH"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    )
)


def find_program(name: str, roots: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The absolute path of `name`, or None. An absolute name is taken as the user wrote it."""
    if os.path.isabs(name):
        return name if _is_program(name) else None
    if os.sep in name:
        return None
    beside = os.path.dirname(sys.executable)
    for directory in (*clean_path(roots, environment), beside):
        candidate = os.path.join(directory, name)
        if _is_program(candidate) and (directory == beside or not _inside(os.path.realpath(candidate), roots)):
            return candidate
    return None


def clean_path(roots: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """The PATH entries that are absolute and lie in no workspace."""
    entries = environment.get("PATH", os.defpath).split(os.pathsep)
    return tuple(e for e in entries if os.path.isabs(e) and not _inside(os.path.realpath(e), roots))


def clean_environment(roots: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables a server gets; the directory beside the running Python comes last on its PATH."""
    kept = {k: v for k, v in environment.items() if k in _PASSED or k.startswith("LC_")}
    beside = os.path.dirname(sys.executable)
    path = clean_path(roots, environment)
    kept["PATH"] = os.pathsep.join((*path, beside) if beside not in path else path)
    if "VIRTUAL_ENV" in kept and _inside(os.path.realpath(kept["VIRTUAL_ENV"]), roots):
        del kept["VIRTUAL_ENV"]
    return kept


def _inside(path: str, roots: Sequence[str]) -> bool:
    return any(relative_to(root, path) is not None for root in roots)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
