package chain

import (
	"bytes"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A timer that ended without a fire shows its reason once, also if its status says it.
func TestATimersEndIsShownOnce(t *testing.T) {
	var out bytes.Buffer
	names := naming.New(nil)
	names.Add(types.Address{1}, "club")
	l := &eventLines{Context: cli.NewContext(&cli.App{Writer: &out}, nil, nil), names: names}
	l.printTimer(&model.TimerEvent{Actor: types.Address{1}, Height: 110, Status: "insufficient_funds", Reason: "insufficient_funds"})
	l.printTimer(&model.TimerEvent{Actor: types.Address{1}, Height: 111, Status: "deferred", Reason: "lane_full"})
	const want = "block 110  timer  club  0x00000000  insufficient_funds\nblock 111  timer  club  0x00000000  deferred: lane_full\n"
	if out.String() != want {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
}
