"""Checks a Paraver trace, its .pcf and its .row: paraver_trace.py FILE.prv[.gz]."""
import gzip
import json
import re
import sys
from collections import defaultdict

import spans

RUNNING = ("Running", "Running, shrunk", "Running on cores that may be shared")


def fail(line, message):
    sys.exit(f"paraver_trace: line {line}: {message}")


def read_header(text):
    found = re.fullmatch(r"#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):(\d+)(_ns)?:(\d+)\(([\d,]+)\):(\d+)((?::\d+\([\d:,]+\))+)", text)
    if not found:
        fail(1, f"no header: {text[:200]}")
    cpus = [int(count) for count in found[4].split(",")]
    if len(cpus) != int(found[3]):
        fail(1, f"{found[3]} nodes, but CPUs of {len(cpus)}")
    applications = []
    for tasks, threads in re.findall(r":(\d+)\(([\d:,]+)\)", found[6]):
        pairs = [tuple(int(number) for number in pair.split(":")) for pair in threads.split(",")]
        if len(pairs) != int(tasks):
            fail(1, f"an application of {tasks} tasks lists {len(pairs)}")
        for count, node in pairs:
            if count < 1 or not 1 <= node <= len(cpus):
                fail(1, f"no task: {count}:{node}")
        applications.append(pairs)
    if len(applications) != int(found[5]):
        fail(1, f"{found[5]} applications, but tasks of {len(applications)}")
    return int(found[1]) * (1e-9 if found[2] else 1e-6), int(found[1]), cpus, applications


def read_pcf(path):
    states, events, section = {}, {}, ""
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if re.fullmatch(r"[A-Z_]+", line):
            section = line
        elif section == "STATES" and line:
            number, name = line.split(None, 1)
            states[int(number)] = name
        elif section == "STATES_COLOR" and line and not re.fullmatch(r"\d+ +\{\d+,\d+,\d+\}", line):
            sys.exit(f"paraver_trace: no colour: {line}")
        elif section == "EVENT_TYPE" and line:
            _, number, name = line.split(None, 2)
            events[int(number)] = name
    return states, events


def check_row(path, cpus, applications):
    sections = open(path, encoding="utf-8").read().rstrip("\n").split("\n\n")
    expected = {"CPU": sum(cpus), "NODE": len(cpus), "APPL": len(applications),
                "TASK": sum(len(tasks) for tasks in applications),
                "THREAD": sum(count for tasks in applications for count, _ in tasks)}
    for section in sections:
        first, *names = section.split("\n")
        found = re.fullmatch(r"LEVEL (\w+) SIZE (\d+)", first)
        if not found or expected.get(found[1]) != int(found[2]) or len(names) != int(found[2]):
            sys.exit(f"paraver_trace: .row: '{first}' with {len(names)} names, expected {expected}")
        del expected[found[1]]
    if expected:
        sys.exit(f"paraver_trace: .row lacks {expected}")


def main(path):
    stem = path.removesuffix(".gz").removesuffix(".prv")
    states, events = read_pcf(stem + ".pcf")
    opener = gzip.open if path.endswith(".gz") else open
    found, jobs, last, busy_threads = [], set(), 0, defaultdict(int)
    with opener(path, "rt", encoding="ascii") as file:
        unit, end, cpus, applications = read_header(file.readline().rstrip("\n"))
        unit = unit / end if end else 1e-6
        check_row(stem + ".row", cpus, applications)
        node_of = [node + 1 for node, count in enumerate(cpus) for _ in range(count)]
        for number, line in enumerate(file, 2):
            kind, *fields = line.rstrip("\n").split(":")
            if kind not in "12" or not all(re.fullmatch(r"-?\d+", field) for field in fields):
                fail(number, f"no record: {line[:200]}")
            cpu, application, task, thread, begin, *rest = (int(field) for field in fields)
            if not 0 <= cpu <= len(node_of):
                fail(number, f"there is no CPU {cpu}")
            if not 1 <= application <= len(applications) or not 1 <= task <= len(applications[application - 1]):
                fail(number, f"there is no task {application}.{task}")
            threads, node = applications[application - 1][task - 1]
            if not 1 <= thread <= threads:
                fail(number, f"there is no thread {application}.{task}.{thread}")
            if cpu != 0 and node_of[cpu - 1] != node:
                fail(number, f"thread {application}.{task}.{thread} is of node {node}, CPU {cpu} is not")
            if begin < last or begin > end:
                fail(number, f"time {begin} after {last}, the trace ends at {end}")
            last = begin
            if kind == "1":
                until, state = rest
                if not begin < until <= end or state not in states:
                    fail(number, f"no state: {line[:200]}")
                if states[state] in RUNNING:
                    if cpu == 0:
                        fail(number, "runs on no CPU")
                    found.append((cpu, begin, until))
                    if len(applications) > 1:
                        jobs.add(application)
                    if begin < busy_threads[application, task, thread]:
                        fail(number, "a thread has two states at once")
                    busy_threads[application, task, thread] = until
            else:
                if len(rest) % 2 or not rest:
                    fail(number, f"no event: {line[:200]}")
                for kind_of_event, value in zip(rest[::2], rest[1::2]):
                    if kind_of_event not in events:
                        fail(number, f"event {kind_of_event} is not in the .pcf")
                    if events[kind_of_event].startswith("Job") and value != 0 and len(applications) == 1:
                        jobs.add(value)
    print(json.dumps({"jobs": len(jobs), "cores": len(node_of), "held": spans.held(found) * unit,
                      "busy": (spans.busy(found) if found else 0) * unit, "applications": len(applications)}))


main(sys.argv[1])
