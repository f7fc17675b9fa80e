package pyhost

import (
	"bytes"
	"testing"
	"time"
)

// The first host compiles its modules and sends them, and the next one is given them. A host
// that is given the modules of another version compiles its own.
func TestAHostTakesTheModulesOfTheFirst(t *testing.T) {
	p := openPool(t, Config{Hosts: 1})
	p.compiled = &compilations{of: map[compiledBy][]byte{}}
	found, err := p.python.findOnce()
	if err != nil {
		t.Fatal(err)
	}
	by := compiledBy{found.path, p.sources.digest()}
	start := func() error {
		h, err := p.startHost(found.path, false, time.Now().Add(startTimeout))
		if err != nil {
			return err
		}
		defer h.stopProcess()
		return h.forkChild()
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	modules := p.compiled.knownModules(by)
	if len(modules) < len(p.sources.text())/2 || !bytes.HasPrefix(modules, []byte(found.version)) {
		t.Fatalf("the first host of Python %s sent %d bytes", found.version, len(modules))
	}
	if err := start(); err != nil {
		t.Errorf("with the modules of the first: %v", err)
	}
	version, code, _ := bytes.Cut(modules, []byte{0})
	p.compiled.of[by] = append([]byte("3.0.0\x00"), code...)
	if err := start(); err != nil {
		t.Errorf("with the modules of another version: %v", err)
	}
	p.compiled.of[by] = append(append(version, 0), "no code"...)
	if start() == nil {
		t.Error("a host started without the modules that it was given")
	}
}

// A process keeps the modules of a few interpreters. Hosts of one more compile theirs at each start.
func TestCompiledModulesAreBounded(t *testing.T) {
	c := compilations{of: map[compiledBy][]byte{}}
	for i := range maxCompilations + 1 {
		by := compiledBy{python: string(rune('a' + i))}
		c.keepModules(by, []byte("code"))
		if kept := c.knownModules(by) != nil; kept != (i < maxCompilations) {
			t.Errorf("of %d, the last is kept: %t", i+1, kept)
		}
	}
}
