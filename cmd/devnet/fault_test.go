package main

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// What a verb of the command line takes can be typed.
func TestEveryFaultCanBeTyped(t *testing.T) {
	for _, v := range fault.Verbs() {
		for _, a := range v.Takes {
			if word := faultWords[a]; v.Command != "" && word.texts == nil && word.set == nil && word.rest == nil && word.read == nil {
				t.Errorf("%s takes an argument that cannot be typed", v.Name)
			}
		}
	}
}
