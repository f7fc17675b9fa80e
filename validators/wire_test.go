package validators

import (
	"bytes"
	"encoding/hex"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Every frame that docs/WIRE.md shows is read as what it is said to be, and
// written again as the same bytes; and it shows one of each kind.
func TestFramesAreThoseOfTheDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/WIRE.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"proposal": &types.Proposal{}, "vote": &types.Vote{}, "certificate": &types.Certificate{},
		"block request": &simplex.BlockRequest{}, "block answer": &simplex.BlockAnswer{}, "certificate request": &simplex.CertificateRequest{},
		"range request": &catchup.RangeRequest{}, "batch": &catchup.Batch{}, "transactions": &transactions{},
		"view request": &simplex.ViewRequest{}, "view answer": &simplex.ViewAnswer{},
		"life request": &simplex.LifeRequest{}, "life answer": &simplex.LifeAnswer{},
	} {
		m := regexp.MustCompile("(?s)<!-- example: " + name + " -->\n```text\n(.*?)```").FindSubmatch(text)
		if m == nil {
			t.Errorf("WIRE.md shows no %s", name)
			continue
		}
		var frame []byte
		for _, line := range strings.Split(strings.TrimSpace(string(m[1])), "\n") {
			part, err := hex.DecodeString(line[strings.LastIndexByte(line, ' ')+1:])
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			frame = append(frame, part...)
		}
		message, err := decodeFrame(frame)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if reflect.TypeOf(message) != reflect.TypeOf(want) || !bytes.Equal(encodeFrame(message), frame) {
			t.Errorf("%s is read as %T", name, message)
		}
	}
	for tag := mesh.LifeAnswer + 1; tag != 0; tag++ {
		if _, err := decodeFrame([]byte{tag, 0x80}); err == nil || !strings.Contains(err.Error(), "unknown kind") {
			t.Fatalf("a frame of kind %d, which WIRE.md does not have: %v", tag, err)
		}
	}
}
