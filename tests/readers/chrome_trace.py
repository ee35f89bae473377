"""Checks a trace in Chrome's Trace Event Format: chrome_trace.py FILE[.gz]."""
import gzip
import json
import sys
from collections import defaultdict

import spans


def fail(event, message):
    sys.exit(f"chrome_trace: {message}: {json.dumps(event)[:300]}")


def number(event, name):
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        fail(event, f"{name}: expected a number")
    return value


def check_nesting(slices):
    """Slices of one thread contain each other or do not overlap."""
    for thread, events in slices.items():
        events.sort(key=lambda event: (event["ts"], -event["dur"]))
        open_ends = []
        for event in events:
            while open_ends and open_ends[-1] <= event["ts"]:
                open_ends.pop()
            end = event["ts"] + event["dur"]
            if open_ends and open_ends[-1] < end:
                fail(event, f"slices of thread {thread} overlap")
            open_ends.append(end)


def main(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        trace = json.loads(file.read().decode("utf-8"),
                           parse_constant=lambda word: sys.exit(f"chrome_trace: {word} is no JSON"))
    slices, found, jobs = defaultdict(list), [], set()
    named, processes, counters, instants = set(), set(), defaultdict(int), defaultdict(int)
    for event in trace["traceEvents"]:
        phase = event.get("ph")
        if not isinstance(event.get("name"), str):
            fail(event, "name: expected a text")
        if not isinstance(event.get("pid"), int) or not isinstance(event.get("tid"), int):
            fail(event, "pid, tid: expected whole numbers")
        if not isinstance(event.get("args", {}), dict):
            fail(event, "args: expected an object")
        if phase == "M":
            if event["name"] in ("process_name", "thread_name"):
                if not isinstance(event["args"].get("name"), str):
                    fail(event, "args.name: expected a text")
                (processes if event["name"] == "process_name" else named).add((event["pid"], event["tid"]))
            elif event["name"] in ("process_sort_index", "thread_sort_index"):
                number(event["args"], "sort_index")
            else:
                fail(event, "unknown metadata")
            continue
        number(event, "ts")
        if phase == "X":
            if number(event, "dur") < 0:
                fail(event, "dur: expected 0 or more")
            slices[event["pid"], event["tid"]].append(event)
            if event["cat"].split(",")[0] == "job":
                args = event["args"]
                jobs.add(args["job"])
                for core in range(args["first_core"], args["first_core"] + args["width"]):
                    found.append((core, event["ts"], event["ts"] + event["dur"]))
        elif phase == "C":
            if not event["args"]:
                fail(event, "a counter without a value")
            for name in event["args"]:
                number(event["args"], name)
            counters[event["name"]] += 1
        elif phase == "i":
            if event.get("s") not in ("g", "p", "t"):
                fail(event, "s: expected g, p or t")
            instants[event["name"].split(" ")[-1]] += 1
        else:
            fail(event, "unknown phase")
    check_nesting(slices)
    for thread in slices:
        if thread not in named:
            sys.exit(f"chrome_trace: thread {thread} has no name")
        if thread[0] not in {pid for pid, _ in processes}:
            sys.exit(f"chrome_trace: process {thread[0]} has no name")
    print(json.dumps({"jobs": len(jobs), "cores": len({core for core, _, _ in found}), "held": spans.held(found) / 1e6,
                      "busy": (spans.busy(found) if found else 0) / 1e6, "counters": sorted(counters), "instants": instants,
                      "suspended": sum(1 for events in slices.values() for event in events if event["cat"] == "suspended"),
                      "groups": sum(1 for events in slices.values() for event in events if event["cat"] == "group"),
                      "slices": sum(1 for events in slices.values() for event in events if event["cat"] == "slice")}))


main(sys.argv[1])
