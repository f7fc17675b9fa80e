#!/usr/bin/env bash
# CPython 3.11.2 (Debian's python3.11-minimal), 3.11.7, 3.12.1 and 3.13.0: frames of Python functions lie in chunks of 16 KiB, which
# are mapped for the first frame that has no room left in the last one, and unmapped when it returns. A call at just that depth
# costs two calls of the system and the first writes to its pages: some 300 times as long as the same call one frame higher
# or deeper, and each time anew. How deep that is depends on the sizes of the frames above, not on the work.
# A meter that charges a call one price is wrong by that factor for who chooses his depth, and a benchmark that moves by one frame lies.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >depths.py <<'PY'
import sys
import time


def leaf():
    pass


def at_depth(n, times):
    """The least nanoseconds of a call of leaf, from n frames further down."""
    if n:
        return at_depth(n - 1, times)
    least = None
    for _ in range(5):
        began = time.perf_counter_ns()
        for _ in range(times):
            leaf()
        took = (time.perf_counter_ns() - began) / times
        least = took if least is None else min(least, took)
    return least


def measure():
    found = [at_depth(n, 300) for n in range(400)]
    usual, worst = sorted(found)[len(found) // 2], max(found)
    slow = [n for n, took in enumerate(found) if took > 10 * usual]
    print("Python %s: a call takes %.0f ns, and %.0f ns at the depths %s of 400" % (sys.version.split()[0], usual, worst, slow))
    sys.exit(0 if 1 <= len(slow) <= 20 and worst > 20 * usual else "this is not what CPython 3.11.2 to 3.13.0 did")


measure()
PY
found=0
for python in /usr/bin/python3.11 python3.11 python3.12 python3.13; do
  if "$python" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12), (3, 13)))' 2>/dev/null; then
    "$python" -I -S depths.py
    found=1
  fi
done
test "$found" = 1 || { echo "no CPython 3.11 to 3.13 is here: apt-get install -y python3.11-minimal"; exit 1; }
