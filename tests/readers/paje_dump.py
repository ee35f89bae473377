"""What pj_dump prints of a Paje trace, from standard input: pj_dump FILE | paje_dump.py."""
import json
import sys
from decimal import Decimal

import spans


def main():
    found, jobs, cores, nodes, variables, events = [], set(), set(), set(), set(), {}
    for line in sys.stdin:
        cells = [cell.strip() for cell in line.rstrip("\n").split(",")]
        if cells[0] == "Container":  # parent, type, begin, end, duration, name
            if cells[2] == "Core":
                cores.add(cells[6])
            elif cells[2] == "Node":
                nodes.add(cells[6])
        elif cells[0] == "State":  # container, type, begin, end, duration, imbrication, value
            begin, end = (int((Decimal(cell) * 1_000_000).to_integral_value()) for cell in cells[3:5])
            jobs.add(cells[7])
            if float(cells[6]) != 0:
                sys.exit(f"paje_dump: a state in another one: {line}")
            if begin < end:
                found.append((cells[1], begin, end))
        elif cells[0] == "Variable":
            variables.add(cells[2])
        elif cells[0] == "Event":
            events[cells[4]] = events.get(cells[4], 0) + 1
        else:
            sys.exit(f"paje_dump: unknown line: {line}")
    print(json.dumps({"jobs": len(jobs), "cores": len(cores), "nodes": len(nodes), "held": spans.held(found) / 1e6,
                      "busy": (spans.busy(found) if found else 0) / 1e6, "variables": sorted(variables), "events": events}))


main()
