package quic

import (
	"bytes"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The stream that docs/WIRE.md shows is what a prompt stream carries.
func TestTheStreamIsThatOfTheDocument(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/WIRE.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)<!-- example: stream -->\n```text\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatal("WIRE.md shows no stream")
	}
	var shown []byte
	for _, line := range strings.Split(strings.TrimSpace(string(m[1])), "\n") {
		part, err := hex.DecodeString(line[strings.LastIndexByte(line, ' ')+1:])
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, part...)
	}
	frame, err := readFrame(bytes.NewReader(shown[1:]), promptBytes)
	if err != nil || kind(shown[0]) != kindOf(frame) {
		t.Fatalf("%x, %v", frame, err)
	}
	var sink pipe
	w := writer{stream: &sink, buf: []byte{byte(prompt)}}
	if err := w.writeFrame(frame); err != nil {
		t.Fatal(err)
	}
	if err := w.flushBuffer(); err != nil || !bytes.Equal(sink.Bytes(), shown) {
		t.Fatalf("written as %x, %v", sink.Bytes(), err)
	}
}
