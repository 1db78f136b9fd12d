"""Kept results of benchmarks as Markdown."""

from typing import Any


def section(record: dict[str, Any]) -> str:
    """A kept result in Markdown."""
    about = [f"{value}" for value in record["machine"].values() if isinstance(value, str)]
    if record["machine"].get("cores"):
        about.append(f"{record['machine']['cores']} cores")
    if record["machine"].get("load before") is not None:
        about.append(f"load {record['machine']['load before']:.1f} before the run")
    libraries = [f"{name} {version}" for name, version in record["versions"].items()]
    words = [f"`{record['command']}`", record["date"], ", ".join(about), ", ".join(libraries)]
    lines = [f"```text\n{record['text']}\n```", "; ".join(word for word in words if word) + "."]
    return "\n\n".join([*lines, record["note"]] if record["note"] else lines)
