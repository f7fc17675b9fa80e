// Package operating has the scripts of who starts networks and nodes, looks at them and breaks them.
package operating

import (
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/script"
)

func TestMain(m *testing.M) { script.Main(m) }

func TestScripts(t *testing.T) { script.Run(t) }
