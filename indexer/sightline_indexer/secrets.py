"""The table of files that hold secrets; they are never indexed and never returned.

**Invariant**: a name decides, not the content, and case does not matter. Examples that projects check in on purpose
(`.env.example`) stay searchable.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

# Kind -> what a file of that kind is called. A form is a whole name, `*suffix`, `prefix*`, or `directory/name`.
SECRET_FILES: Mapping[str, tuple[str, ...]] = {
    "dotenv": (".env", ".env.*", ".env-*", ".env_*", ".envrc", "*.env"),
    "pem key or certificate": ("*.pem",),
    "private key": ("*.key", "*.ppk", "*.pk8", "*.priv"),
    "ssh rsa key": ("id_rsa*",),
    "ssh dsa key": ("id_dsa*",),
    "ssh ecdsa key": ("id_ecdsa*",),
    "ssh ed25519 key": ("id_ed25519*",),
    "ssh host key": ("ssh_host_*_key",),
    "pkcs12 store": ("*.p12", "*.pfx", "*.pkcs12"),
    "java key store": ("*.jks", "*.keystore", "*.bks", "*.jceks"),
    "openpgp key": ("secring.gpg", "secring.pgp"),
    "apple signing": ("*.mobileprovision", "*.p8", "*.keychain", "*.keychain-db"),
    "npm": (".npmrc",),
    "yarn": (".yarnrc.yml.local", ".yarnrc.secret"),
    "pypi": (".pypirc",),
    "netrc": (".netrc", "_netrc"),
    "git credentials": (".git-credentials", ".gitcredentials"),
    "aws": (".aws/credentials", ".aws/config", ".boto", ".s3cfg"),
    "google cloud": (
        "service-account*.json",
        "service_account*.json",
        "application_default_credentials.json",
        "gcloud/credentials.db",
        "*-firebase-adminsdk-*.json",
    ),
    "azure": (".azure/accesstokens.json", ".azure/azureprofile.json", "*.publishsettings"),
    "docker": (".docker/config.json", ".dockercfg", ".dockerconfigjson"),
    "kubernetes": (".kube/config", "kubeconfig", "*.kubeconfig"),
    "htpasswd": (".htpasswd", "*.htpasswd"),
    "password store": ("*.kdbx", "*.kdb", "*.psafe3", "*.agilekeychain", "*.1pif"),
    "terraform": (
        "terraform.tfstate",
        "terraform.tfstate.*",
        "*.tfstate",
        "*.tfvars",
        "*.tfvars.json",
        ".terraformrc",
    ),
    "ansible vault": (".vault_pass", ".vault_pass.*", "vault_pass.txt", ".vault-password"),
    "hashicorp vault": (".vault-token",),
    "postgresql": (".pgpass", "pgpass.conf"),
    "mysql": (".my.cnf", ".mylogin.cnf"),
    "rails": ("config/master.key", "master.key"),
    "cargo": (".cargo/credentials", ".cargo/credentials.toml"),
    "rubygems": (".gem/credentials",),
    "composer": (".composer/auth.json",),
    "maven": ("settings-security.xml", ".m2/settings.xml"),
    "github cli": ("gh/hosts.yml",),
    "openvpn": ("*.ovpn",),
    "shell history": (".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history"),
    "generic credentials": ("credentials.json", "client_secret*.json", ".credentials", ".secrets"),
}

# Checked in on purpose, to show what a secret file looks like.
HARMLESS_FILES = (
    "*.env.example",
    "*.env.sample",
    "*.env.template",
    "*.env.dist",
    "*.env.defaults",
    "*.env.schema",
    "*.example",
    "*.sample",
    "*.template",
    "*.tfvars.example",
    "*.pub",
)
_FORMS = tuple(form for forms in SECRET_FILES.values() for form in forms)
_NAMES = frozenset(form for form in _FORMS if "*" not in form and "/" not in form)
_PATHS = tuple(form for form in _FORMS if "/" in form)
_PATH_LEAVES = frozenset(form.rpartition("/")[2] for form in _PATHS)
# One set look-up in place of a long `endswith`: a walk asks this of every file.
_EXTENSIONS = frozenset(form[1:] for form in _FORMS if form.startswith("*.") and form.count(".") == 1)
_PREFIXES = tuple(form[:-1] for form in _FORMS if form.endswith("*"))
_GLOBS = tuple(form for form in _FORMS if "*" in form and form[1:] not in _EXTENSIONS and form[:-1] not in _PREFIXES)
_GLOB_SUFFIXES = tuple({form.rpartition("*")[2] for form in _GLOBS})
_HARMLESS_SUFFIXES = tuple(form[1:] for form in HARMLESS_FILES)


def is_secret(name: str, parent: str) -> bool:
    """True for a file called `name` in the directory `parent` (relative, `/`, without a trailing slash)."""
    low = name.lower()
    if low in _NAMES or low[low.rfind(".") :] in _EXTENSIONS or low.startswith(_PREFIXES):
        return not low.endswith(_HARMLESS_SUFFIXES)
    if low in _PATH_LEAVES:
        whole = f"/{parent}/{low}".lower()
        return any(whole.endswith("/" + path) for path in _PATHS)
    return low.endswith(_GLOB_SUFFIXES) and any(fnmatchcase(low, form) for form in _GLOBS)
