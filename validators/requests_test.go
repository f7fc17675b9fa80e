package validators

import "testing"

// A waiting request is answered once, with its own answer.
func TestATicketIsAnsweredOnce(t *testing.T) {
	var d requests
	var heard []any
	first := d.enter(func(a any) { heard = append(heard, a) })
	second := d.enter(func(a any) { heard = append(heard, a) })
	d.answer(second, "b")
	d.answer(second, "again")
	d.answer(0, "nobody's")
	d.answer(first, "a")
	if len(heard) != 2 || heard[0] != "b" || heard[1] != "a" {
		t.Errorf("heard %v", heard)
	}
}

// At most as many requests wait as there is room for, and none after the end.
func TestADesksRoomIsLimited(t *testing.T) {
	var d requests
	never := func(any) { t.Error("somebody was answered") }
	for range maxRequests - 1 {
		d.enter(never)
	}
	heard := 0
	last := d.enter(func(any) { heard++ })
	if last == 0 || d.enter(never) != 0 {
		t.Errorf("the limit of %d is not kept", maxRequests)
	}
	d.answer(last, nil)
	if d.enter(never) == 0 || heard != 1 {
		t.Error("an answer makes no room")
	}
	d.close()
	d.answer(1, nil)
	if d.enter(never) != 0 {
		t.Error("a caller waits after the end")
	}
}
