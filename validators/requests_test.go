package validators

import "testing"

// A waiting request is answered once, with its own answer.
func TestATicketIsAnsweredOnce(t *testing.T) {
	var d requests
	var heard []any
	first := d.enterRequest(func(a any) { heard = append(heard, a) })
	second := d.enterRequest(func(a any) { heard = append(heard, a) })
	d.answerRequest(second, "b")
	d.answerRequest(second, "again")
	d.answerRequest(0, "nobody's")
	d.answerRequest(first, "a")
	if len(heard) != 2 || heard[0] != "b" || heard[1] != "a" {
		t.Errorf("heard %v", heard)
	}
}

// At most as many requests wait as there is room for, and none after the end.
func TestADesksRoomIsLimited(t *testing.T) {
	var d requests
	never := func(any) { t.Error("somebody was answered") }
	for range maxRequests - 1 {
		d.enterRequest(never)
	}
	heard := 0
	last := d.enterRequest(func(any) { heard++ })
	if last == 0 || d.enterRequest(never) != 0 {
		t.Errorf("the limit of %d is not kept", maxRequests)
	}
	d.answerRequest(last, nil)
	if d.enterRequest(never) == 0 || heard != 1 {
		t.Error("an answer makes no room")
	}
	d.refuseAll()
	d.answerRequest(1, nil)
	if d.enterRequest(never) != 0 {
		t.Error("a caller waits after the end")
	}
}
