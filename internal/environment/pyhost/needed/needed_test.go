package needed

import (
	"errors"
	"runtime"
	"testing"
)

// judged is how a test ended: it notes what it is told, and ends.
type judged struct {
	testing.TB
	failed, skipped bool
}

func (*judged) Helper() {}

func (j *judged) Fatalf(string, ...any) { j.failed = true; runtime.Goexit() }

func (j *judged) Skipf(string, ...any) { j.skipped = true; runtime.Goexit() }

func TestMissingPythonFailsWhereItIsRequired(t *testing.T) {
	for _, c := range []struct {
		value           string
		err             error
		failed, skipped bool
	}{
		{"", nil, false, false},
		{"", errors.New("none"), false, true},
		{"maybe", errors.New("none"), false, true},
		{Required, nil, false, false},
		{Required, errors.New("none"), true, false},
	} {
		t.Setenv(Variable, c.value)
		j := &judged{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			Python(j, c.err)
		}()
		<-done
		if j.failed != c.failed || j.skipped != c.skipped {
			t.Errorf("%q, %v: failed %v, skipped %v", c.value, c.err, j.failed, j.skipped)
		}
	}
}
