#!/usr/bin/env python3
"""A policy for replay: in the order of the queue, each job that fits starts at its fastest size that is free."""
import json, math, sys


def speedup(curve, n):
    if curve["law"] == "downey":
        a, s = curve["a"], curve["sigma"]
        if s > 1:
            return n * a * (s + 1) / (s * (n + a - 1) + a) if n <= a + a * s - s else a
        beyond = a * n / (s * (a - 0.5) + n * (1 - s / 2)) if n <= 2 * a - 1 else a
        return a * n / (a + s * (n - 1) / 2) if n <= a else beyond
    if curve["law"] == "three-point":  # linear between n/2, n and 2n
        at, e, i = [curve["n"] / 2, curve["n"], curve["n"] * 2], curve["e"], int(n > curve["n"])
        slope = (e[i + 1] * at[i + 1] - e[i] * at[i]) / (at[i + 1] - at[i])
        return e[0] * n if n < at[0] else e[2] * at[2] if n > at[2] else e[i] * at[i] + slope * (n - at[i])
    return n


def fastest(job, free):  # by microseconds, rounded up as replay does
    if job["flexibility"] == "rigid" or "curve" not in job:
        return job["processes"] if job["processes"] <= free else None
    least, most = job.get("least", 1), min(job.get("most", free), free)
    sizes = [n for n in job.get("sizes", range(least, most + 1)) if least <= n <= most]
    own, time = speedup(job["curve"], job["processes"]), round(job["estimate"] * 1e6)
    return min(sizes, key=lambda n: math.ceil(time / (speedup(job["curve"], n) / own) * (1 - 1e-14)), default=None)


waiting = {}
for line in sys.stdin:
    message, actions = json.loads(line), []
    for event in message.get("events", ()):
        waiting.pop(event["id"], None)
        if event["event"] == "submitted":
            waiting[event["id"]] = event
    for job in sorted(waiting.values(), key=lambda job: (job["submitted"], job["id"])):
        if size := fastest(job, message["free"]):
            actions.append({"start": job["id"], "processes": size})
            message["free"] -= size
    print(json.dumps({"actions": actions} if message["type"] == "pass" else {"type": "hello", "protocol": 2}), flush=True)
