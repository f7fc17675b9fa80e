package gateway

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// MaxReasonBytes bounds the stored part of a text that a runner sends for people to
// read: a reason, or the names of a CapabilityDelta. A frame may bring push.MaxText
// bytes, and what is kept goes into events and outlives its connection.
const MaxReasonBytes = 256

// reasonOf returns the stored part of a reason: at most MaxReasonBytes, with U+FFFD
// for each character that cannot be printed. It is "" without a reason.
//
// Spec: decision J22.
func reasonOf(said *string) string {
	if said == nil {
		return ""
	}
	var kept strings.Builder
	for _, r := range *said {
		if !unicode.IsPrint(r) {
			r = utf8.RuneError
		}
		if kept.Len()+utf8.RuneLen(r) > MaxReasonBytes {
			break
		}
		kept.WriteRune(r)
	}
	return kept.String()
}

// amendmentOf returns the stored part of the names that a delta adds and removes.
func amendmentOf(d *push.CapabilityDelta) string {
	var all strings.Builder
	list := func(sign string, names []string) {
		for _, name := range names {
			if all.Len() > MaxReasonBytes {
				return
			}
			if all.Len() > 0 {
				all.WriteByte(' ')
			}
			all.WriteString(sign + name)
		}
	}
	list("+", d.AddedCapabilities)
	list("+", d.AddedEntitlements)
	list("-", d.RemovedCapabilities)
	list("-", d.RemovedEntitlements)
	text := all.String()
	return reasonOf(&text)
}
