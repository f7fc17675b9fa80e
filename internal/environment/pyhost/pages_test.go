package pyhost

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// pagesOfASmallActor prints how many pages of memory a child writes to first, that has served the host's own messages,
// when it inspects a small actor, and when it serves a small message.
const pagesOfASmallActor = `
import os, resource, sys, threading
sys.path[:0] = ["../../../python-host", "../../../python-host/prices"]
import child, measure
from host import chain, imports, main, program, serving, warmup

with open("../../../fixtures/actors/sender.py", "rb") as f:
    SMALL = f.read()
CODE = bytes(31) + b"\7"

def pages():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt

def inspect():
    warmup.run_warmup()
    before = pages()
    program.load_source(SMALL, imports.is_exported)
    return pages() - before

def call():
    warmup.run_warmup()
    chain.pipe = warmup.Nobody()
    before = pages()
    serving.call_handler(warmup.make_call_frame(b"notify", bytes(24), CODE))
    return pages() - before

def work():
    measure.start_host()
    warmup.specialise_code()
    serving.sources[CODE] = code = program.load_source(SMALL, imports.is_exported)
    warmup.note_running(code)
    print(child.run_in_child(inspect), child.run_in_child(call), flush=True)
    os._exit(0)

threading.stack_size(256 << 20)
threading.Thread(target=main.run_in_one_chunk, args=(lambda _: work(), None)).start()
`

// What the inspection of a small actor and a message to it write to first is free: a page takes 13 µs on
// some machines, and neither pays for its own.
//
// Spec: decision C18, 1.
func TestC18TheFirstWritesOfASmallActorAreFree(t *testing.T) {
	python, err := shared.python.findOnce()
	needed.Python(t, err)
	printed, err := exec.Command(python.path, "-I", "-S", "-B", "-c", pagesOfASmallActor).Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(printed))
	if len(fields) != 2 {
		t.Fatalf("it printed %q", printed)
	}
	for i, free := range []int{program.LateInspectionPages, program.LatePages} {
		if pages, err := strconv.Atoi(fields[i]); err != nil || pages == 0 || pages > free {
			t.Errorf("%s pages, of which %d are free", fields[i], free)
		}
	}
	t.Logf("an inspection wrote to %s pages first, a message to %s", fields[0], fields[1])
}
