"""The costs of handlers, over all calls that tests made."""

import json
import os
from statistics import median

report = None  # the Costs that are told of what chains execute, where somebody asked


class Costs:
    """Cycles and cells of each handler's executions that ended ok."""

    def __init__(self):
        self.calls = {}  # "actor.handler" → [(cycles, cells, fee)]

    def add(self, actor, receipt):
        if receipt.ok and receipt.origin != "system" and (receipt.handler or actor):
            name = (actor and (actor.name or actor.origin)) or "?"
            key = "%s.%s" % (name, receipt.handler or "deploy")
            self.calls.setdefault(key, []).append((receipt.cycles, receipt.cells, receipt.fee))

    def merge(self, calls):
        for key, found in calls.items():
            self.calls.setdefault(key, []).extend(map(tuple, found))

    def rows(self):
        """By handler: calls, and least, median and greatest of cycles and cells, and the median of the fee."""
        rows = []
        for key in sorted(self.calls):
            cycles, cells, fees = zip(*self.calls[key])
            rows.append((key, len(cycles), min(cycles), int(median(cycles)), max(cycles), min(cells), int(median(cells)), max(cells),
                         int(median(fees))))
        return rows

    def table(self):
        head = ("handler", "calls", "cycles min", "median", "max", "cells min", "median", "max", "fee median (wei)")
        rows = [head] + [tuple(map(str, row)) for row in self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        return ["  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]) for row in rows]

    def snapshot(self):
        """The medians, as a file keeps them."""
        return {row[0]: {"cycles": row[3], "cells": row[6]} for row in self.rows()}

    def compare(self, path):
        """The differences from the snapshot in a file, in lines; a missing file is written."""
        now, before = self.snapshot(), read_snapshot(path)
        if before is None:
            self.save(path)
            return []
        changed = []
        for key in sorted(before.keys() | now.keys()):
            if before.get(key) != now.get(key):
                changed.append("%s: %s → %s" % (key, _format_medians(before.get(key)), _format_medians(now.get(key))))
        return changed

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.snapshot(), file, indent=1, sort_keys=True)
            file.write("\n")


def read_snapshot(path):
    """None if the file does not exist. A ValueError says why it is no snapshot."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            raise ValueError("%s: there is no such folder" % path) from None
        return None
    except (OSError, ValueError) as error:
        raise ValueError("%s cannot be read: %s" % (path, error)) from None
    rows = found.values() if isinstance(found, dict) else [None]
    if not all(isinstance(row, dict) and {type(row.get("cycles")), type(row.get("cells"))} == {int} for row in rows):
        raise ValueError("invalid gas snapshot %s: remove it, or name another file" % path)
    return found


def _format_medians(row):
    return "not called" if row is None else "%d cycles, %d cells" % (row["cycles"], row["cells"])
