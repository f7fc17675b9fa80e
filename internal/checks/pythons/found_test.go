package main

import "testing"

// foundByOwnTests are what CPython's own tests found first, with their relatives.
var foundByOwnTests = []sequence{
	{"bytearray(b'xyz')", []string{`re.sub(b"y", b"a", q)`, `re.sub(b"q", b"a", q)`, `re.subn(b"y", b"a", q)`,
		`re.sub(b"y", bytearray(b"a"), q)`,
		`re.split(b"y", q)`, `re.findall(b"y", q)`, `re.search(b"y", q).group()`, `re.compile(b"y").sub(b"", q)`}},
	{"1", []string{"Slotted()", "Slotted(1)", "Slotted(1, 2).y", "Slotted(x=1, y=2)", "Slotted(1, 2) == Slotted(1, 2)"}},
	{"1", []string{"dataclasses.fields(Point)[0].name", "dataclasses.fields(Point)[0].type"}},
	{"[3, 1, 2]", []string{"heapq.heappush(q, 0)", "heapq.heappop(q)", "heapq.heapreplace(q, 9)", "heapq.heappushpop(q, 0)",
		"heapq.heapify(q)"}},
	{"1", []string{"on_contents(typing.Mapping)"}},
	{"1", []string{"on_contents(typing.List[int])"}},
	{"1", []string{"on_contents(typing.Generic[typing.TypeVar('T')])"}},
	{"[]", []string{"heapq.heappop(q)", "heapq.heapreplace(q, 1)", "heapq.heappushpop(q, 1)", "heapq.heapify(q)", "heapq.heappush(q, 1)"}},
	{"[Grows(3), Grows(1)]", []string{"heapq.heappush(q, Grows(0, q))"}},
	{"[Grows(3), Grows(1)]", []string{"heapq.heappushpop(q, Grows(9, q))"}},
	{"[Grows(3), Grows(1), Grows(2)]", []string{"heapq.heapreplace(q, Grows(9, q))"}},
}

// Decision C22: what CPython's own tests found stays found.
func TestC22WhatOwnTestsFound(t *testing.T) {
	found, err := judgeSequences(firstInstalled(t), foundByOwnTests)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found.silent {
		t.Error(s)
	}
	if len(found.refused) != 2 || found.refused["an attribute"] != 1 || // the type of a field
		found.refused["a class on a built-in type"] != 2 {
		t.Errorf("refused are %v", found.refused)
	}
}
