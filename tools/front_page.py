"""The arm of the site's front page: ``python tools/front_page.py FOLDER``.

Writes ``live.js``, which has the kernels, all named arms and three.js in one file, so that the page
works without a network, and also from a disk; ``three-license.txt``; and ``jointwise-web.zip`` with
kernels, arms, modules and their types, for other pages. Needs ``ziglang``, and npm for what
``docs/front_page/package.json`` names.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import web_arms

from jointwise.kernels.native.fingerprint import fingerprint
from jointwise.kernels.native.wasm import build_wasm

ROOT = Path(__file__).parents[1]
SOURCE, MODULES = ROOT / "docs" / "front_page", ROOT / "docs" / "live"
BUILT = ("jointwise.wasm", "jointwise.json", "arms.json")


def install_packages(folder: Path) -> Path:
    """The pinned npm packages, in a folder where they are found again."""
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is not installed: the front page needs it, install Node.js.")
    folder.mkdir(parents=True, exist_ok=True)
    lock = (SOURCE / "package-lock.json").read_bytes()
    installed = folder / "package-lock.json"
    if not (folder / "node_modules").exists() or installed.read_bytes() != lock:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCE / name, folder)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(command, cwd=folder, check=True)
    return folder / "node_modules"


def bundle(out: Path, packages: Path, built: Path) -> None:
    """Write all modules and what they load as one script."""
    node = shutil.which("node") or "node"
    command = [node, str(packages / "esbuild/bin/esbuild"), str(SOURCE / "page.mjs"), "--bundle"]
    command += ["--minify", "--loader:.wasm=binary", "--legal-comments=eof", "--log-level=warning"]
    command += [f"--banner:js=// {fingerprint_of_sources()}"]
    environment = {**os.environ, "NODE_PATH": os.pathsep.join([str(packages), str(built)])}
    subprocess.run([*command, f"--outfile={out}"], env=environment, check=True)


def write_types(out: Path, packages: Path) -> list[Path]:
    """Check the modules' types, and write them for editors and TypeScript."""
    node = shutil.which("node") or "node"
    command = [node, str(packages / "typescript/bin/tsc"), "--allowJs", "--checkJs", "--strict"]
    command += ["--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler"]
    command += ["--lib", "es2022,dom", "--declaration", "--emitDeclarationOnly"]
    sources = [str(MODULES / name) for name in ("arm.mjs", "jointwise.mjs")]
    subprocess.run([*command, "--outDir", str(out), *sources], check=True)
    return sorted(out.glob("*.d.mts"))


def fingerprint_of_sources() -> str:
    """A hash of all that decides ``live.js``; its first line has it."""
    digest = hashlib.sha256(fingerprint("kernels", "model").encode())
    for file in (*sorted(SOURCE.iterdir()), *sorted(MODULES.iterdir()), Path(web_arms.__file__)):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def is_current(script: Path) -> bool:
    """Whether a ``live.js`` is there and was made of these sources."""
    if not script.exists():
        return False
    with script.open(encoding="utf-8") as file:
        return file.readline() == f"// {fingerprint_of_sources()}\n"


def main(folder: str) -> None:
    """Write the three files."""
    out = Path(folder).resolve()
    work = out.with_name(f"{out.name}-build")
    packages = install_packages(work / "npm")
    out.mkdir(parents=True, exist_ok=True)
    build_wasm(work)
    web_arms.write_arms(work, web_arms.NAMES)
    bundle(out / "live.js", packages, work)
    shutil.copy(packages / "three" / "LICENSE", out / "three-license.txt")
    types = write_types(work / "types", packages)
    with ZipFile(out / "jointwise-web.zip", "w", ZIP_DEFLATED) as file:
        for each in (*(work / name for name in BUILT), *types, *sorted(MODULES.iterdir())):
            file.write(each, f"jointwise-web/{each.name}")
    for each in sorted(out.iterdir()):
        print(f"{each.name}: {each.stat().st_size / 1e3:.0f} kB", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
