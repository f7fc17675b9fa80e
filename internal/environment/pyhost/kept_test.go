package pyhost

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A later process is given the modules that the first host of one before it compiled, if neither the
// interpreter nor the sources are others. It compiles them again where the file is damaged.
func TestALaterProcessTakesTheModulesOfAnEarlierOne(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	start := func() (p *Pool, by compiledBy) {
		p = openPool(t, Config{Hosts: 1})
		p.compiled = &compilations{of: map[compiledBy][]byte{}} // as of a process of its own
		found, err := p.python.findOnce()
		if err != nil {
			t.Fatal(err)
		}
		h, err := p.startHost(found.path, false, time.Now().Add(startTimeout))
		if err != nil {
			t.Fatal(err)
		}
		defer h.stopProcess()
		if err := h.forkChild(); err != nil {
			t.Fatal(err)
		}
		return p, compiledBy{found.path, p.sources.digest()}
	}
	first, by := start()
	mark := first.proofMark(by.python)
	kept := readKeptModules(mark)
	if len(kept) == 0 || !bytes.Equal(kept, first.compiled.knownModules(by)) {
		t.Fatalf("the first process kept %d bytes", len(kept))
	}
	began := modifiedAt(keptModulesFile(mark))
	second, _ := start()
	if !bytes.Equal(second.compiled.knownModules(by), kept) || !modifiedAt(keptModulesFile(mark)).Equal(began) {
		t.Error("the second process has compiled the modules again")
	}
	if err := os.WriteFile(keptModulesFile(mark), append(bytes.Clone(kept), 0), 0o600); err != nil {
		t.Fatal(err)
	}
	if readKeptModules(mark) != nil {
		t.Error("a damaged file is read")
	}
	if third, _ := start(); len(third.compiled.knownModules(by)) == 0 || readKeptModules(mark) == nil {
		t.Error("a damaged file was not written again")
	}
}

// Modules of other versions leave the folder as new ones come.
func TestKeptModulesAreBounded(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for i := range maxKept + 2 {
		writeKeptModules(fmt.Sprintf("mark%d", i), []byte("code"))
		old := time.Unix(int64(i), 0)
		if err := os.Chtimes(keptModulesFile(fmt.Sprintf("mark%d", i)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(cacheFile()), "*"))
	if err != nil || len(files) != maxKept || readKeptModules("mark0") != nil || readKeptModules("mark5") == nil {
		t.Errorf("the folder has %q, %v", files, err)
	}
}
