"""What events.log says, read from its page (docs/formats/events.md): event_log.py FILE."""
import json
import sys

import spans


def micro(text):
    whole, _, fraction = text.lstrip("-").partition(".")
    value = int(whole) * 1_000_000 + int((fraction + "000000")[:6])
    return -value if text.startswith("-") else value


def cores_of(on):
    for part in on.split(","):
        ends = [int(end) for end in part.split(":")[0].split("-")]
        yield from range(ends[0], ends[-1] + 1)


def main(path):
    cores, machine = 0, ""
    found, now = [], 0  # spans of named cores
    area = busy_area = 0  # of a pool, where a core has one job
    jobs = {}  # job: [cores or their number, since, is on them]
    launched, drawn = set(), set()

    def close(job):
        nonlocal area
        held, since, awake = jobs[job]
        if not awake or since == now:
            return
        drawn.add(job)
        if isinstance(held, int):
            area += held * (now - since)
        else:
            found.extend((core, since, now) for core in held)

    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            if line.startswith("#machine "):
                machine = line.split()[1].removeprefix("emulated:")
                cores = 1
                for part in machine.removeprefix("flat:").split("x"):
                    cores *= int(part)
                continue
            if line.startswith("#"):
                continue
            time, kind, *rest = line.split()
            now = micro(time)
            fields = dict(part.split("=", 1) for part in rest if "=" in part)
            job = fields.get("job")
            if kind in ("launch", "resized"):
                if kind == "resized":
                    close(job)
                launched.add(job)
                held = list(cores_of(fields["on"])) if "on" in fields else int(fields["cores"])
                jobs[job] = [held, now, True]
            elif kind in ("suspended", "resumed") and job in jobs:
                close(job)
                jobs[job] = [jobs[job][0], now, kind == "resumed"]
            elif kind == "finish" and job in jobs:
                close(job)
                del jobs[job]
    for job in list(jobs):
        close(job)
    busy_area = area + (spans.busy(found) if found else 0)
    print(json.dumps({"jobs": len(launched), "drawn": len(drawn), "cores": cores, "held": (area + spans.held(found)) / 1e6,
                      "busy": busy_area / 1e6}))


main(sys.argv[1])
