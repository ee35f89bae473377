"""Loads a table of jobs as Evalys does, or as Batsim writes it: jobs_table.py evalys|batsim FILE[.gz]."""
import csv
import gzip
import json
import math
import re
import sys

import spans

EVALYS = ["job_id", "workload_name", "submission_time", "requested_number_of_resources", "requested_time", "success",
          "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch",
          "allocated_resources"]
BATSIM = ["job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time",
          "success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time",
          "stretch", "allocated_resources", "consumed_energy", "metadata"]
STATES = {"COMPLETED_SUCCESSFULLY", "COMPLETED_FAILED", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "REJECTED"}


def procset(text):
    """Cores of "0-3 7": intervals of whole numbers, parted by single blanks, disjoint and ascending."""
    cores = []
    for interval in text.split(" ") if text else []:
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", interval)
        if not found:
            raise ValueError(f"no interval: '{interval}'")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first or (cores and first <= cores[-1]):
            raise ValueError(f"no ascending set: '{text}'")
        cores.extend(range(first, last + 1))
    return cores


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=2e-6)


def main(kind, path):
    found, jobs, used, ids = [], 0, set(), set()
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, strict=True)
        expected = EVALYS if kind == "evalys" else BATSIM
        if rows.fieldnames != expected:
            sys.exit(f"jobs_table: columns: expected {expected}, found {rows.fieldnames}")
        for line, row in enumerate(rows, 2):
            def fail(message):
                sys.exit(f"jobs_table: line {line}: {message}: {row}")
            if None in row or None in row.values():
                fail("too many or too few cells")
            if row["job_id"] in ids:
                fail("the job is there twice")
            ids.add(row["job_id"])
            try:
                cores = procset(row["allocated_resources"])
            except ValueError as error:
                fail(error)
            if kind == "batsim" and row["final_state"] not in STATES:
                fail("final_state")
            if kind == "batsim" and (row["success"] == "1") != (row["final_state"] == "COMPLETED_SUCCESSFULLY"):
                fail("success and final_state")
            if row["success"] not in ("0", "1"):
                fail("success")
            if row["starting_time"] == "":
                if kind == "evalys" or cores:
                    fail("a job without times")
                continue
            times = {name: float(row[name]) for name in
                     ("submission_time", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time")}
            if not near(times["starting_time"], times["submission_time"] + times["waiting_time"]):
                fail("starting_time is not submission_time + waiting_time")
            if not near(times["finish_time"], times["starting_time"] + times["execution_time"]):
                fail("finish_time is not starting_time + execution_time")
            if not near(times["turnaround_time"], times["waiting_time"] + times["execution_time"]):
                fail("turnaround_time is not waiting_time + execution_time")
            if not cores:
                fail("a job that ran has no cores")
            jobs += 1
            used.update(cores)
            begin, end = round(times["starting_time"] * 1e6), round(times["finish_time"] * 1e6)
            if begin < end:
                found.extend((core, begin, end) for core in cores)
    if kind == "evalys" and not found:
        sys.exit("jobs_table: Evalys finds no core at all")
    print(json.dumps({"jobs": jobs, "cores": len(used), "held": spans.held(found) / 1e6,
                      "busy": (spans.busy(found) if found else 0) / 1e6}))


main(*sys.argv[1:])
