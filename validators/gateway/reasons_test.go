package gateway

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Decision J22: the stored part of a runner's words is short and printable, whatever it
// sends.
func TestJ22AReasonIsShortAndPrintable(t *testing.T) {
	said := func(s string) *string { return &s }
	for _, c := range []struct {
		said *string
		want string
	}{
		{nil, ""}, {said(""), ""}, {said("gpu_oom"), "gpu_oom"}, {said("größer"), "größer"},
		{said("a\x1b[31mb\nc\x00"), "a\ufffd[31mb\ufffdc\ufffd"},
		{said("left\u202eright"), "left\ufffdright"},
		{said(strings.Repeat("x", push.MaxText)), strings.Repeat("x", 256)},
		{said("x" + strings.Repeat("é", 500)), "x" + strings.Repeat("é", 127)}, // 257 bytes would be one too many
	} {
		if got := reasonOf(c.said); got != c.want || len(got) > MaxReasonBytes || !utf8.ValidString(got) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// CIP-11 §6.4, decision J22: the load that a runner tells is reported with its reason, once
// for each time that it changes.
func TestJ22BackpressureIsReportedWithItsReason(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	why := "gpu_oom"
	for range 2 {
		e.say(0, &push.BackpressureSignal{ActiveJobs: 3, MaxConcurrent: 4, Reason: &why})
	}
	e.say(0, &push.BackpressureSignal{ActiveJobs: 2, MaxConcurrent: 4, AcceptingNew: true})
	got := reported[Pressed](w)
	if len(got) != 2 || got[0] != (Pressed{e.signer.Address(), Load{Active: 3, Most: 4, Reason: "gpu_oom"}}) ||
		got[1] != (Pressed{e.signer.Address(), Load{Active: 2, Most: 4, Accepting: true}}) {
		t.Errorf("%+v", got)
	}
}

// CIP-11 §10.2, decision J22: an ack is reported with its status and its words.
func TestJ22AnAckIsReportedWithItsReason(t *testing.T) {
	why, refused := "no such executor", push.Unsupported
	for _, c := range []struct {
		status push.AckStatus
		want   Classified
	}{
		{push.AckStatus{Reject: &refused}, Classified{Outcome: SoftFailure, Rejected: push.Unsupported, Reason: why}},
		{duplicate, Classified{Outcome: Duplicate, Reason: why}},
	} {
		w, e, id := pushed(t, 1)
		w.pass(40 * time.Millisecond)
		f := &push.JobAck{JobID: id.Job, Status: c.status, Reason: &why}
		f.Signed = e.signer.Sign(f.Digest(chainID))
		e.say(job0, f)
		c.want.Runner, c.want.Assignment, c.want.After = e.signer.Address(), id, 40*time.Millisecond
		if got := reported[Classified](w); len(got) != 1 || got[0] != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
	w, e, id := pushed(t, 1)
	f := &push.JobAck{JobID: id.Job, Status: accepted, Reason: &why}
	f.Signed = e.signer.Sign(f.Digest(chainID))
	e.say(job0, f)
	if got := reported[Accepted](w); len(got) != 1 || got[0].Reason != why {
		t.Errorf("%+v", got)
	}
}

// CIP-11 §6.5: a delta is reported with the names it brings, cut.
func TestJ22ADeltaIsReported(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	f := &push.CapabilityDelta{AddedCapabilities: []string{"llm"}, AddedEntitlements: []string{"eu"}, RemovedCapabilities: []string{"mcp"},
		RemovedEntitlements: []string{strings.Repeat("x", 400), "never shown"}}
	f.Signed = e.signer.Sign(f.Digest(chainID))
	e.say(0, f)
	got := reported[Amended](w)
	if len(got) != 1 || !strings.HasPrefix(got[0].Said, "+llm +eu -mcp -xxx") || len(got[0].Said) != MaxReasonBytes {
		t.Errorf("%+v", got)
	}
}

// A refused connection says whether it is a registered runner's: only a stranger's key
// costs nothing.
func TestJ22ARefusalSaysWhetherTheRunnerIsRegistered(t *testing.T) {
	w := newWorld(t, nil)
	w.connect("nobody", 1).openControl().say(0, w.connect("nobody", 2).helloOf())
	for _, r := range reported[Refused](w) {
		if r.Registered {
			t.Errorf("%+v", r)
		}
	}
	w.register("r0")
	w.block(nil)
	w.connect("r0", 3).openControl().greet().raw(0, 0x77)
	if got := reported[Refused](w); len(got) != 1 || !got[0].Registered {
		t.Errorf("%+v", got)
	}
}
