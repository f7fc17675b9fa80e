package main

import (
	"testing"
	"time"
)

// A travel that is stopped puts the clock back: no clock is "moved by" less than nothing.
func TestAStoppedTravelSaysThatTheClockWasPutBack(t *testing.T) {
	for by, want := range map[time.Duration]string{
		3 * time.Second:  "moved by 3s",
		0:                "moved by 0s",
		-274 * time.Hour: "put back by 274h0m0s, which the travel had left",
	} {
		if got := describeMove(by); got != want {
			t.Errorf("%v is %q, want %q", by, got, want)
		}
	}
}
