"""Checks a table of stretches (docs/formats/stretches-csv.md): stretches_table.py FILE[.gz]."""
import csv
import gzip
import json
import sys
from decimal import Decimal

import spans

COLUMNS = ["job", "from_s", "to_s", "state", "cores", "core_list", "node_list", "processes", "mpl", "shareable", "class", "user",
           "group", "queue", "requested", "submitted_s"]


def numbers(text):
    for part in text.split(" "):
        ends = [int(end) for end in part.split("-")]
        yield from range(ends[0], ends[-1] + 1)


def main(path):
    found, jobs, used, suspended = [], set(), set(), 0
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, strict=True)
        if rows.fieldnames != COLUMNS:
            sys.exit(f"stretches_table: columns: {rows.fieldnames}")
        for line, row in enumerate(rows, 2):
            cores = list(numbers(row["core_list"]))
            begin, end = (int(Decimal(row[name]) * 1_000_000) for name in ("from_s", "to_s"))
            if len(cores) != int(row["cores"]) or begin >= end or row["state"] not in ("runs", "suspended"):
                sys.exit(f"stretches_table: line {line}: {row}")
            if len(set(cores)) * int(row["mpl"]) < int(row["processes"]):
                sys.exit(f"stretches_table: line {line}: too many processes: {row}")
            if row["state"] == "suspended":
                suspended += 1
                continue
            jobs.add(row["job"])
            used.update(cores)
            found.extend((core, begin, end) for core in cores)
    print(json.dumps({"jobs": len(jobs), "cores": len(used), "held": spans.held(found) / 1e6,
                      "busy": (spans.busy(found) if found else 0) / 1e6, "suspended": suspended}))


main(sys.argv[1])
