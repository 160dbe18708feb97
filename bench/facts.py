"""What every report says of the machine and of the run that it is about."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path


def facts(command: str, setting: dict[str, str]) -> str:
    """A table of when, how and where, and of the settings that are not empty."""
    rows = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": f"`{command}`".replace("|", r"\|"),
        "machine": machine(),
        **setting,
    }
    lines = ["| | |", "|---|---|"] + [f"| {n} | {text} |" for n, text in rows.items() if text]
    return "\n".join(lines) + "\n"


def machine() -> str:
    """CPU, cores, memory and kernel of this machine."""
    cpu, memory = platform.processor() or platform.machine(), ""
    if Path("/proc/cpuinfo").exists():
        found = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
        cpu = found[0] if found else cpu
        kib = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(), re.M)
        memory = f", {int(kib[1]) / 2**20:.0f} GiB of memory" if kib else ""
    return f"{cpu}, {os.cpu_count()} cores{memory}, {platform.system()} {platform.release()}"
