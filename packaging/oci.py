#!/usr/bin/env python3
"""Makes an OCI image of the portable archive, without a daemon:      oci.py dyetrace-0.1.0-linux-x86_64.tar.gz dyetrace-0.1.0-x86_64.oci.tar

    podman load -i dyetrace-0.1.0-x86_64.oci.tar        or: skopeo copy oci-archive:… docker-daemon:dyetrace:0.1.0

One layer: the archive below /usr, and /tmp; nothing else, as the programs need nothing else. The same archive makes the same image, byte for
byte. The formats are those of the OCI's image-spec: an image layout (oci-layout, index.json, blobs by their sha256) in a tar.
"""
import gzip
import hashlib
import io
import json
import pathlib
import re
import sys
import tarfile
import time

MEDIA = "application/vnd.oci.image."


def add_folder(layer, name, mode, time_s):
    folder = tarfile.TarInfo(name)
    folder.type, folder.mode, folder.mtime = tarfile.DIRTYPE, mode, time_s
    layer.addfile(folder)


def layer_of(archive):
    """An uncompressed tar, and the time of what is newest in it."""
    out = io.BytesIO()
    with tarfile.open(archive) as given, tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as layer:
        members = sorted(given.getmembers(), key=lambda member: member.name)
        newest = int(max(member.mtime for member in members if not member.isdir()))
        add_folder(layer, "tmp", 0o1777, newest)
        add_folder(layer, "usr", 0o755, newest)
        known = {""}
        for member in members:
            _, _, inside = member.name.partition("/")
            if inside in known:  # cpack writes a folder once for each component; not every reader of images takes that
                continue
            known.add(inside)
            content = given.extractfile(member) if member.isfile() else None
            member.name, member.uid, member.gid, member.uname, member.gname, member.pax_headers = f"usr/{inside}", 0, 0, "", "", {}
            member.mtime = newest
            layer.addfile(member, content)
    return out.getvalue(), newest


class Image:
    """An image layout in memory."""

    def __init__(self):
        self.files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}

    def blob(self, media, content):
        """Its descriptor."""
        if not isinstance(content, bytes):
            content = json.dumps(content, separators=(",", ":"), sort_keys=True).encode()
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {"mediaType": MEDIA + media, "digest": f"sha256:{digest}", "size": len(content)}

    def write(self, path, time_s):
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
            for folder in ("blobs", "blobs/sha256"):
                add_folder(tar, folder, 0o755, time_s)
            for name, content in sorted(self.files.items()):
                file = tarfile.TarInfo(name)
                file.size, file.mtime = len(content), time_s
                tar.addfile(file, io.BytesIO(content))


def make(archive, out):
    version = re.match(r"dyetrace-([\d.]+)-", archive.name)[1]
    layer, newest = layer_of(archive)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(newest))
    image = Image()
    config = {
        "created": created, "architecture": "amd64", "os": "linux",
        "config": {
            "Entrypoint": ["/usr/bin/dyetrace"], "Env": ["PATH=/usr/bin"],
            "Labels": {"org.opencontainers.image.title": "dyetrace", "org.opencontainers.image.version": version,
                       "org.opencontainers.image.licenses": "Apache-2.0 AND GPL-2.0-only"},
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "packaging/oci.py"}],
    }
    manifest = {
        "schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json",
        "config": image.blob("config.v1+json", config),
        "layers": [image.blob("layer.v1.tar+gzip", gzip.compress(layer, compresslevel=6, mtime=0))],
    }
    described = image.blob("manifest.v1+json", manifest)
    described["annotations"] = {"org.opencontainers.image.ref.name": f"dyetrace:{version}"}
    image.files["index.json"] = json.dumps({"schemaVersion": 2, "mediaType": MEDIA + "index.v1+json", "manifests": [described]}).encode()
    image.write(out, newest)


make(*map(pathlib.Path, sys.argv[1:3]))
