#!/usr/bin/env python3
"""A policy for replay, as a program: starts jobs in an order, and nobody overtakes in it.

    replay simulate --trace t.swf --policy 'exec:{python3 list_policy.py --order=shortest}'

--order is fcfs (by submission), shortest (by estimate) or narrowest (by processes).
"""
import argparse
import json
import sys

ORDERS = {
    "fcfs": lambda job: (job["submitted"], job["id"]),
    "shortest": lambda job: (job["estimate"], job["submitted"], job["id"]),
    "narrowest": lambda job: (job["processes"], job["submitted"], job["id"]),
}


class State:
    """What has been told: waiting and running jobs by number. Enough for most policies."""

    def __init__(self):
        self.waiting = {}
        self.running = {}

    def take(self, event):
        job, kind = event["id"], event["event"]
        if kind == "submitted":
            self.waiting[job] = event
        elif kind == "started":
            self.running[job] = {**self.waiting.pop(job, {}), **event}
        elif kind == "changed":
            self.running[job].update(event)
        elif kind == "ended":
            self.waiting.pop(job, None)
            self.running.pop(job, None)


def decide(state, free, order):
    actions = []
    for job in sorted(state.waiting.values(), key=order):
        if job["processes"] > free:
            break
        free -= job["processes"]
        actions.append({"start": job["id"]})
    return actions


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--order", choices=ORDERS, default="fcfs")
    order = ORDERS[arguments.parse_args().order]
    state = State()
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"type": "hello", "protocol": 2}
        elif message["type"] == "pass":
            for event in message["events"]:
                state.take(event)
            answer = {"actions": decide(state, message["free"], order)}
        else:
            break
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
