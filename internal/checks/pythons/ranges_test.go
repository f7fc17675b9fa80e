package main

import (
	"strings"
	"testing"
)

// longRanges have more elements than a C size counts, or lie beside such.
var longRanges = strings.Fields(`range(-1,-2**70,-3) range(2**63) range(0,2**130,2**66) range(2**70,2**70+5) range(2**70,0)`)

// rangeSteps are all that can be asked of a range.
const rangeSteps = `len(q)
bool(q)
not q
1 if q else 2
q == q
q == range(2**70)
q != range(5)
q == [1]
q < q
q is q
{q: 1}[q]
{q, q} == {q}
(q,) == (q,)
q in [q]
[q].index(q)
q * 4
4 * q
q * -1
q * 0
True * q
q * q
q * "a"
[1] * q
q + q
q + [1]
[1] + q
q + q[:4]
q[:4] + q[-3:]
q[:4] * 2
q - q
-q
~q
q | q
{1} | set(q[:3])
{1: 2}.keys() | q[:3]
q & q
q % 2
"%s" % q
"%d" % q
"%s %s" % q
q // 2
q ** 2
pow(q, 2)
divmod(q, 2)
q << 1
q / 2
; q += q
; q += [1]
; q *= 2
; q -= 1
; q |= q
; x = [1]; x += q[:3]
q[0]
q[-1]
q[2**65]
q[-2**65]
q[2**80]
q["a"]
q[None]
q[1, 2]
q[:]
q[::-1]
q[:4]
q[4:]
q[-3:]
q[:-3]
q[::2**65]
q[2**65:]
q[2**65:2**66:2**64]
q[::0]
q["a":]
q[:4][1:]
list(q[-3:])
list(q[::2**65])[:3]
q[2**80:]
len(q[:4])
len(q[4:])
q.start
q.stop
q.step
q.index(2**65)
q.index(q[0])
q.index(q[-1])
q.index(2**80)
q.index(True)
q.index(0, 1)
q.index()
q.count(0)
q.count(q[-1])
q.count(2**80)
q.count()
0 in q
-4 in q
2**65 in q
2**80 in q
True in q
next(reversed(q))
next(iter(q))
next(iter(q), 5)
[next(reversed(q)), next(iter(q[1:]))]
next(reversed(q[2:]))
reversed(reversed(q))
list(q)
tuple(q)
bytes(q)
bytearray(q)
min(q, q)
sorted(q)
sorted([q, q])
any(q)
dict(q)
dict(zip(q, "abc"))
list(zip(q, "abc"))
list(zip("abc", q))
list(map(lambda a, b: a, q, "abc"))
list(enumerate("ab", q[1]))
next(enumerate(q))
next(map(str, q))
next(filter(None, q))
"".join(q)
",".join(map(str, q[:3]))
[1, *q]
(*q,)
first(*q[:2])
first(*q)
; a, b = q
; a, *b = q
; a, *b = q[:4]
; a, b = q[:2]
; [a, b] = q[1:3]
[v for v in q[:3]]
[v for v, _ in zip(q, range(3))]
{v: 1 for v in q[:3]}
; x = [1, 2, 3]; x[:] = q
; x = [1, 2, 3]; x[1:2] = q[:2]
; x = [1, 2, 3]; x.extend(q)
; x = [1, 2, 3]; x.extend(q[:2])
; del q[0]
; q[0] = 1
; q[:2] = [1]
; del q[:2]
; q.start = 1
; q.x = 1
; [1, 2][q] = 3
[1, 2, 3][q]
"abc"[q]
range(q)
range(10)[q]
range(*q)
range(*q[:2])
range(q.start, q.stop)
str(q)
repr(q)
f"{q}"
f"{q!r:>40}"
f"{q:>40}"
format(q, "")
"{}".format(q)
type(q).__name__
isinstance(q, range)
isinstance(q, (list, tuple))
callable(q)
int(q)
abs(q)
round(q)
chr(q)
ord(q)
hex(q)
bool(q[:0])
json.dumps(q)
json.dumps(list(q[:3]))
list(itertools.islice(q, 3))
list(itertools.chain(q[:2], q[-2:]))
next(itertools.chain(q, q))
next(itertools.chain.from_iterable([q]))
next(itertools.cycle(q))
next(itertools.accumulate(q))
next(itertools.pairwise(q))
next(itertools.zip_longest(q, "a"))
next(itertools.starmap(first, zip(q)))
next(itertools.takewhile(bool, q))
list(itertools.compress("abc", q))
next(itertools.groupby(q))
next(itertools.repeat(q))
next(itertools.tee(q)[0])
functools.reduce(lambda a, b: a + b, q[:3])
collections.deque(q[:5], 3)
collections.OrderedDict(q)
collections.OrderedDict.fromkeys(q[:2])
T3(*q[:3])
T3(*q)
heapq.nsmallest(2, q[:4])
heapq.heapify(q)
heapq.heappush(q, 1)
next(heapq.merge(q, q))
bisect.bisect(q, 5)
bisect.bisect_left(q, 2**65)
bisect.bisect(q[:9], 5)
bisect.bisect(q, 5, 0, 10)
bisect.insort(q, 5)
operator.add(q, q)
operator.mul(q, 4)
operator.concat(q, q)
operator.getitem(q, 0)
operator.contains(q, 2**65)
operator.countOf(q[:3], 1)
operator.length_hint(q)
operator.itemgetter(1)(q)
operator.truth(q)
operator.not_(q)
operator.index(q)
math.prod(q[1:3])
math.gcd(*q[1:3])
base64.b64encode(q)
hashlib.sha256(q)
getattr(q, "start")
hasattr(q, "index")
range.index(q, q[1])
range.count(q, q[1])
list.index(q, 1)
enumerate_list(q[:3], 1)
re.search("a", q)
"abc".startswith(q)
"abc".find("a", q)
"abc".split(q)
str.join(",", q)
any(reversed(q))
2**65 in iter(q[:3])
list(reversed(q))[:1]
print(q)
sum(q[:3])
sum(q[:3], q[1])
min(q[:3])
max(q[-3:], key=lambda v: -v)
match_point(q)
min(q, key=lambda v: v[0])
max(q, key=len)
sum(q, "")
functools.reduce(lambda a, b: a[0], q)
dict(q[:2])
{}.update(q)
; x = {}; x |= q
; x = bytearray(); x.extend(q)
; x = bytearray(); x += q
; x = []; x += q
; x = collections.deque(); x += q
; x = collections.deque(); x.extend(q)
{1}.issuperset(q)
{1}.isdisjoint(q)
heapq.heappush(collections.deque(), 1)
heapq.heappop((1,))
heapq.heapify(())
heapq.heapreplace(q, 1)
heapq.heappushpop("", 1)
collections.Counter("a") + q
collections.Counter("a") - q
collections.deque([1]) + q
b"a" + q
"a" + q
bytearray(b"a") + q
S("a") + q
(1,) + q
"a".replace("a", q)
"a".strip(q)
"a".rfind(q)
"abc".endswith((q,))`

// Decision C22: a range that no C size counts answers as in CPython.
func TestC22LongRangesAnswerAsInCPython(t *testing.T) {
	var all []sequence
	for _, r := range longRanges {
		for step := range strings.Lines(rangeSteps) {
			all = append(all, sequence{value: r, steps: []string{strings.TrimSpace(step)}})
		}
	}
	for _, r := range []string{"range(1, 9, 2)", "range(3)", "range(5, 0, -1)", "range(0)", "range(2**70+1, 2**70+4)", "range(2**70)"} {
		for _, kind := range []string{"Even()", "Wrong()", "Loose(1, 2)", "T3(1, 2, 3)", "Num.ONE"} {
			for _, step := range []string{" in q", " not in q"} {
				if r != "range(2**70)" || kind == "Even()" || kind == "Wrong()" { // CPython looks at all elements
					all = append(all, sequence{value: r, steps: []string{kind + step, "q.index(" + kind + ")"}})
				}
			}
			if r != "range(2**70)" {
				all = append(all, sequence{value: r, steps: []string{"q.count(" + kind + ")"}})
			}
		}
	}
	found, err := judgeSequences(firstInstalled(t), all)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(found)
	for _, s := range found.silent {
		t.Error(s)
	}
}
