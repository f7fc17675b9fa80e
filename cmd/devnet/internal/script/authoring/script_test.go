// Package authoring has the scripts of who writes actors and scenarios, and tries them on simulated networks.
package authoring

import (
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/script"
)

func TestMain(m *testing.M) { script.Main(m) }

func TestScripts(t *testing.T) { script.Run(t) }
