package main

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// Package words makes the texts for people, for commands and tests alike; these are
// its names here.

func printable(s string) string                       { return words.Printable(s) }
func cby(w types.Wei) string                          { return words.CBY(w) }
func short(hex string) string                         { return words.Short(hex) }
func shortBytes(b types.Bytes) string                 { return words.ShortBytes(b) }
func value(b types.Bytes) string                      { return words.Value(b) }
func clipText(s string, most int) string              { return words.Clipped(s, most) }
func groupDigits(n uint64) string                     { return words.Grouped(n) }
func groupedWei(w types.Wei) string                   { return words.GroupedWei(w) }
func eventData(data types.Bytes) string               { return words.EventData(data) }
func inLines(text string, width int) (lines []string) { return words.InLines(text, width) }

// shortHex is how long a hash or an address is in tables.
const shortHex = words.ShortHex

// traceWidth is how wide a line of a trace is.
const traceWidth = words.Columns
