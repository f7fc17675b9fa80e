"""Libraries written in metered Python: they compare what actors put in, so
they run as the actor's own code does. This is their source, not code."""

HEAPQ = '''
def heappush(heap, item, /):
    heap.append(item)
    _down(heap, 0, len(heap) - 1)

def heappop(heap, /):
    last = heap.pop()
    if heap:
        first = heap[0]
        heap[0] = last
        _up(heap, 0)
        return first
    return last

def heapreplace(heap, item, /):
    first = heap[0]
    heap[0] = item
    _up(heap, 0)
    return first

def heappushpop(heap, item, /):
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _up(heap, 0)
    return item

def heapify(heap, /):
    for i in reversed(range(len(heap) // 2)):
        _up(heap, i)

def _down(heap, start, pos):
    new = heap[pos]
    while pos > start:
        above = (pos - 1) >> 1
        parent = heap[above]
        if new < parent:
            heap[pos], heap[above] = parent, new
            pos = above
        else:
            break

def _up(heap, pos):
    end = len(heap)
    start = pos
    new = heap[pos]
    child = 2 * pos + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[pos], heap[child] = heap[child], new
        pos = child
        child = 2 * pos + 1
    _down(heap, start, pos)

def nsmallest(n, iterable, key=None):
    none = [][:n]
    if n < 1:
        iter(iterable)
        return none
    return sorted(iterable, key=key)[:n]

def nlargest(n, iterable, key=None):
    none = [][:n]
    if n < 1:
        iter(iterable)
        return none
    return sorted(iterable, key=key, reverse=True)[:n]

def merge(*iterables, key=None, reverse=False):
    heads = []
    for part in iterables:
        rest = iter(part)
        for value in rest:
            heads.append([value if key is None else key(value), value, rest])
            break
    while heads:
        first = 0
        for i in range(1, len(heads)):
            a, b = heads[i][0], heads[first][0]
            if b < a if reverse else a < b:
                first = i
        head = heads[first]
        yield head[1]
        for value in head[2]:
            head[0] = value if key is None else key(value)
            head[1] = value
            break
        else:
            heads.pop(first)
'''

BISECT = '''
def bisect_right(a, x, lo=0, hi=None, *, key=None):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None or hi == -1:
        hi = len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if x < (a[mid] if key is None else key(a[mid])):
            hi = mid
        else:
            lo = mid + 1
    return lo

def bisect_left(a, x, lo=0, hi=None, *, key=None):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None or hi == -1:
        hi = len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if (a[mid] if key is None else key(a[mid])) < x:
            lo = mid + 1
        else:
            hi = mid
    return lo

def insort_right(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)

def insort_left(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)

bisect = bisect_right
insort = insort_right
'''
SOURCES = {"heapq": HEAPQ, "bisect": BISECT}
