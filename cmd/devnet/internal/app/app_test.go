package app

import (
	"io"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// A line that begins with a command makes that command alone, by the name of the table.
func TestEachCommandHasTheNameOfItsRow(t *testing.T) {
	for _, m := range commandMakers {
		if made := m.make(); made.Name != m.name {
			t.Errorf("the row of %s makes the command %s", m.name, made.Name)
		}
	}
}

// What is wrong with a line may be told by other commands than the one that it begins with.
func TestALineIsJudgedByAllCommandsThoughOneIsMade(t *testing.T) {
	app, arranged, err := arrangeApp([]string{"devnet", "timer", "list", "--help"}, io.Discard, io.Discard)
	if err != nil || len(app.Commands) != 1 || len(arranged) != 4 {
		t.Errorf("a line of timer makes %d commands, and is arranged to %q, %v", len(app.Commands), arranged, err)
	}
	_, _, whole := arrangeApp([]string{"devnet", "timer", "deploy"}, io.Discard, io.Discard)
	if _, want := arrangeFlags(newApp(io.Discard, io.Discard), []string{"devnet", "timer", "deploy"}); whole.Error() != want.Error() ||
		whole.(*failure.Failure).Hint != want.(*failure.Failure).Hint {
		t.Errorf("a wrong line ends with %v (%q), want %v (%q)", whole, whole.(*failure.Failure).Hint, want, want.(*failure.Failure).Hint)
	}
}
