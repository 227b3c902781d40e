"""A job of one process is cancelled from another one."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from sightline_core.config import Config
from sightline_server.registry import project_id_of
from support.clients import command, environment


def test_a_running_index_command_is_cancelled_by_another_command(config: Config, workspace: Path) -> None:
    for number in range(4000):
        (workspace / f"module{number}.py").write_text("def function(): ...\n" * 50, "utf-8")
    running = subprocess.Popen(
        command("index", str(workspace)), env=environment(config), stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert running.stderr is not None
        for line in running.stderr:
            if b"Parsing files" in line:
                break
        log = Path(config.data_dir) / "projects" / project_id_of(str(workspace)) / "jobs.json"
        job_id = json.loads(log.read_bytes())[-1]["job_id"]
        done = subprocess.run(
            command("cancel", job_id, "--workspace", str(workspace), "--json"),
            env=environment(config),
            capture_output=True,
            timeout=30,
        )
        assert json.loads(done.stdout)["status"] == "cancelled"
        assert running.wait(30) == 2
        assert not [name for name in os.listdir(log.parent) if name.startswith("cancel-")]
    finally:
        running.kill()
        running.communicate()
