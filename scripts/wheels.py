"""Writes wheels, which are zips with three extra files: nothing has to be installed to make one.

The same files make the same bytes: their times are the first that a zip knows, and the names keep the order in which they are given.
"""

import base64
import hashlib
import re
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EPOCH = (1980, 1, 1, 0, 0, 0)


def read_unreleased_version():
    return re.search(r'const Unreleased = "([^"]+)"', (ROOT / "cmd/devnet/internal/self/version.go").read_text())[1]


def python_version(version):
    """A version as Python writes it: 0.1.0-dev is 0.1.0.dev0, and 0.2.0-rc.1 is 0.2.0rc1."""
    found = re.fullmatch(r"(\d+\.\d+\.\d+)(?:-(dev|rc)\.?(\d*))?", version)
    if found is None:
        raise SystemExit("%s is not a version: give one like 0.2.0 or 0.2.0-rc.1" % version)
    base, stage, count = found.groups()
    return base + {None: "", "dev": ".dev" + (count or "0"), "rc": "rc" + (count or "0")}[stage]


def write_wheel(folder, name, version, tags, metadata, files, pure=True):
    """Writes a wheel and returns its path. files are bytes by path; files in .data/scripts become executable
    programs."""
    info = "%s-%s.dist-info" % (name, version)
    files = dict(files)
    files[info + "/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[info + "/METADATA"] = metadata.encode()
    lines = ["Wheel-Version: 1.0", "Generator: devnet", "Root-Is-Purelib: %s" % str(pure).lower()] + ["Tag: " + tag for tag in tags]
    files[info + "/WHEEL"] = ("\n".join(lines) + "\n").encode()
    record = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append("%s,sha256=%s,%d\n" % (path, digest, len(data)))
    files[info + "/RECORD"] = ("".join(record) + info + "/RECORD,,\n").encode()
    parts = [tag.split("-") for tag in tags]
    both = "-".join(".".join(dict.fromkeys(part[at] for part in parts)) for at in range(3))
    target = Path(folder) / ("%s-%s-%s.whl" % (name, version, both))
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            mode = 0o100755 if ".data/scripts/" in path else 0o100644
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, mode << 16, 3
            wheel.writestr(entry, data)
    return target
