"""The last jobs of a workspace on disk, so that an interrupted one is noticed by whoever comes next.

**Invariant**: written under the write lock only, each time as a whole. A job that the file calls running while nobody
holds the lock was interrupted.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

import msgspec

from sightline_core.types import JobMode, JobState
from sightline_indexer.layout import JOBS_NAME

_UNFINISHED = (JobState.QUEUED, JobState.RUNNING)


class JobRecord(msgspec.Struct, frozen=True):
    """What is kept of a job."""

    job_id: str
    mode: JobMode
    state: JobState
    reason: str = ""
    started_at: str = ""
    ended_at: str = ""
    message: str = ""
    error: str = ""
    changed_files: int = 0
    file_count: int = 0


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """Jobs that a crash or a kill ended, until a good one follows."""

    interrupted_jobs: tuple[str, ...]
    last_interrupted_at: str
    recommended_action: str = "sync_repo"

    @property
    def detected(self) -> bool:
        """Whether there is anything to recover from."""
        return bool(self.interrupted_jobs)


def read_jobs(folder: str) -> tuple[JobRecord, ...]:
    """The recorded jobs, newest last; none when the file is missing or damaged, which costs only history."""
    try:
        with open(os.path.join(folder, JOBS_NAME), "rb") as file:
            return msgspec.json.decode(file.read(), type=tuple[JobRecord, ...])
    except (FileNotFoundError, msgspec.DecodeError):
        return ()


def record_job(folder: str, job: JobRecord, keep: int) -> None:
    """Add or update one job; the oldest are dropped."""
    others = [known for known in read_jobs(folder) if known.job_id != job.job_id]
    _write(folder, [*others, job][-keep:])


def mark_interrupted(folder: str, now: str) -> None:
    """Note that unfinished jobs will not finish; their process is gone, because we hold the lock."""
    jobs = read_jobs(folder)
    if any(job.state in _UNFINISHED for job in jobs):
        _write(folder, [_interrupt(job, now) for job in jobs])


def request_cancel(folder: str, job_id: str) -> JobRecord | None:
    """Ask the process that runs a job to stop it; None when no unfinished job has that id."""
    job = next((known for known in read_jobs(folder) if known.job_id == job_id), None)
    if job is None or job.state not in _UNFINISHED:
        return job
    with open(_cancel_path(folder, job_id), "wb"):
        pass
    return job


def is_cancel_requested(folder: str, job_id: str) -> bool:
    """Whether another process asked for the end of a job."""
    return os.path.exists(_cancel_path(folder, job_id))


def forget_cancel(folder: str, job_id: str) -> None:
    """Remove the request once the job is over."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_cancel_path(folder, job_id))


def _cancel_path(folder: str, job_id: str) -> str:
    # Ids are made by us and looked up in the log before they name a file.
    return os.path.join(folder, f"cancel-{job_id}")


def recovery_report(jobs: tuple[JobRecord, ...]) -> RecoveryReport | None:
    """What was interrupted since the last job that ended well, None when nothing was."""
    interrupted: list[JobRecord] = []
    for job in jobs:
        if job.state is JobState.PUBLISHED:
            interrupted.clear()
        elif job.state is JobState.INTERRUPTED:
            interrupted.append(job)
    if not interrupted:
        return None
    return RecoveryReport(tuple(job.job_id for job in interrupted), interrupted[-1].ended_at)


def _interrupt(job: JobRecord, now: str) -> JobRecord:
    if job.state not in _UNFINISHED:
        return job
    return msgspec.structs.replace(job, state=JobState.INTERRUPTED, ended_at=now, error="The process ended.")


def _write(folder: str, jobs: list[JobRecord]) -> None:
    target = os.path.join(folder, JOBS_NAME)
    temporary = target + ".new"
    with open(temporary, "wb") as file:
        file.write(msgspec.json.encode(jobs))
    os.replace(temporary, target)
