package push

import (
	"fmt"
	"reflect"

	"github.com/cowboyinc/devnet/internal/base/memo"
)

// Type is a frame's type, its first byte (CIP-11 §12.2).
type Type uint8

// The frames.
const (
	TypeHello              Type = 0x01
	TypeHelloAck           Type = 0x02
	TypeHeartbeatPing      Type = 0x10
	TypeHeartbeatPong      Type = 0x11
	TypeBackpressureSignal Type = 0x12
	TypeCapabilityDelta    Type = 0x13
	TypeJobAssignment      Type = 0x20
	TypeJobAck             Type = 0x21
	TypeJobProgress        Type = 0x22
	TypeJobResult          Type = 0x23
	TypeJobCancel          Type = 0x24
	TypeGoodbye            Type = 0xf0
)

// Frame is one of the twelve, as a pointer.
type Frame interface{ Type() Type }

func (*Hello) Type() Type              { return TypeHello }
func (*HelloAck) Type() Type           { return TypeHelloAck }
func (*HeartbeatPing) Type() Type      { return TypeHeartbeatPing }
func (*HeartbeatPong) Type() Type      { return TypeHeartbeatPong }
func (*BackpressureSignal) Type() Type { return TypeBackpressureSignal }
func (*CapabilityDelta) Type() Type    { return TypeCapabilityDelta }
func (*JobAssignment) Type() Type      { return TypeJobAssignment }
func (*JobAck) Type() Type             { return TypeJobAck }
func (*JobProgress) Type() Type        { return TypeJobProgress }
func (*JobResult) Type() Type          { return TypeJobResult }
func (*JobCancel) Type() Type          { return TypeJobCancel }
func (*Goodbye) Type() Type            { return TypeGoodbye }

// Stream is one of the two kinds of streams of a connection (CIP-11 §6.1).
type Stream uint8

// The control stream, which lives as long as the connection, and the stream of
// one assignment.
const (
	Control Stream = iota
	Job
)

// kind is a frame's line in the table of CIP-11 §12.2.
type kind struct {
	name   string
	stream Stream
	from   Role // "" for both
	frame  reflect.Type
	form   *form
	others []field // all but the field signed, of a frame whose signature covers all others
	domain []byte  // the tag of the signed digest
}

// kinds is the table, by type; the first that asks makes it. An entry without a name is
// not a frame type.
var kinds = memo.OnNeed(func() *[256]kind {
	all := new([256]kind)
	for _, each := range []struct {
		frame  Frame
		stream Stream
		from   Role
	}{
		{new(Hello), Control, ""},
		{new(HelloAck), Control, ""},
		{new(HeartbeatPing), Control, Runner},
		{new(HeartbeatPong), Control, Validator},
		{new(BackpressureSignal), Control, Runner},
		{new(CapabilityDelta), Control, Runner},
		{new(JobAssignment), Job, Validator},
		{new(JobAck), Job, Runner},
		{new(JobProgress), Job, Runner},
		{new(JobResult), Job, Runner},
		{new(JobCancel), Job, Validator},
		{new(Goodbye), Control, ""},
	} {
		t := reflect.TypeOf(each.frame).Elem()
		k := kind{name: t.Name(), stream: each.stream, from: each.from, frame: t, form: formOf(t, ""),
			domain: []byte("cowboy/" + t.Name() + "/1")}
		if fields := fieldsOf(t); findField(fields, []byte("signed")) != nil {
			k.others = withoutField(fields, "signed")
		}
		all[each.frame.Type()] = k
	}
	return all
})

// String returns the frame's name, or the number of an unknown type.
func (t Type) String() string {
	if name := kinds()[t].name; name != "" {
		return name
	}
	return fmt.Sprintf("type 0x%02x", uint8(t))
}

// Known reports whether this version has a frame of the type. An unknown type is
// unknown_frame on the control stream, and skipped on a job stream (decision J17).
func (t Type) Known() bool { return kinds()[t].name != "" }

// Place judges whether a frame may come on a stream from a side at all: a *Fault if
// not, nil also for a frame that is to be skipped. The owner of the connection
// checks that it comes at its time: only Goodbye before the Hello exchange, and
// JobAck before all others on a job stream.
func Place(t Type, on Stream, from Role) error {
	k := &kinds()[t]
	switch {
	case !t.Known() && on == Control:
		return newFault(UnknownFrame, "", "%s", t)
	case !t.Known():
		return nil
	case k.stream != on:
		return newFault(UnexpectedFrame, k.name, "this stream does not carry the frame")
	case k.from != "" && k.from != from:
		return newFault(UnexpectedFrame, k.name, "a %s does not send it", from)
	}
	return nil
}
