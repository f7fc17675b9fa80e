package fault

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestALinkOutOfRangeIsRefusedByName(t *testing.T) {
	for want, link := range map[string]Link{
		"latency":   {Latency: -1},
		"jitter":    {Jitter: MaxDelay + 1},
		"loss":      {Loss: 1.5},
		"duplicate": {Duplicate: -0.1},
		"reorder":   {Reorder: math.NaN()},
		"bandwidth": {Bandwidth: -1},
	} {
		if err := link.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want an error about %s", link, err, want)
		}
	}
	if err := (Link{Latency: MaxDelay, Loss: 1, Duplicate: 1, Reorder: 1, Bandwidth: 1}).Check(); err != nil {
		t.Error(err)
	}
}

func TestALinkReadsAsItIsSet(t *testing.T) {
	if got := (Link{Latency: 20 * time.Millisecond, Loss: 0.1, OneWay: true}).String(); got != "latency 20ms, loss 0.1, one way" {
		t.Error(got)
	}
	if got := (Link{}).String(); got != "perfect" {
		t.Error(got)
	}
}

func TestCountsListWhatHappenedAlone(t *testing.T) {
	var c Counts
	if got := c.Text(SetLink, Live); got != "" {
		t.Errorf("no effect reads %q", got)
	}
	c.Cut.Add(2)
	c.Dropped.Add(41)
	if got := c.Text(SetLink, Live); got != "2 connections cut, 41 packets dropped" {
		t.Error(got)
	}
}
