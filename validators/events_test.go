package validators

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// variants lists the possible values of an event's interfaces: all types of each sum.
var variants = map[reflect.Type][]reflect.Type{
	sum[intakeEvent]():    these(submission{}, ownReport{}, verify{}, attend{}, reopen{}, newSets{}),
	sum[consensusEvent](): these(received{}, simplexEvent{}, catchupEvent{}, begin{}, alarmFired{}, peerAhead{}, attested{}, archived{}),
	sum[executionEvent](): these(begin{}, build{}, execute{}, finalizeReport{}, catchUp{}, forget{}, admission{}, skipTo{}, again{},
		lookAtJobs{}, askNonce{}, askWaiting{}, askCaughtOn{}),
	sum[gatewayEvent](): these(begin{}, connected{}, newHead{}, foreseen{}, polled{}, unkept{}, overdue{}),
	sum[connection.Event](): these(connection.Up{}, connection.Opened{}, connection.Came{}, connection.TooLong{}, connection.Stalled{},
		connection.Ended{}, connection.Cut{}, connection.Stuck{}, connection.Down{}),
	sum[archiveEvent](): these(archiveRequest{}, flush{}, flushDue{}, rangeRequest{}),
	sum[simplex.Event](): these(simplex.Start{}, simplex.Tick{}, simplex.Received{}, simplex.Built{}, simplex.Executed{}, simplex.Abstain{},
		simplex.Work{},
		simplex.Timing{}, simplex.Hold{}, simplex.Goal{}, simplex.CaughtUp{}),
	sum[simplex.Verified](): these(simplex.VerifiedVote{}, simplex.VerifiedCertificate{}, simplex.VerifiedProposal{}, simplex.VerifiedBlock{},
		simplex.VerifiedView{}, &simplex.BlockRequest{}, &simplex.CertificateRequest{}, &simplex.ViewRequest{}, &simplex.LifeRequest{},
		&simplex.LifeAnswer{}, &simplex.Past{}),
	sum[catchup.Event](): these(catchup.Behind{}, catchup.Answer{}, catchup.Verified{}, catchup.Refused{}, catchup.Applied{},
		catchup.Rejected{},
		catchup.Finalized{}, catchup.Tick{}),
	sum[types.Instruction](): these(&types.Transfer{}, &types.Deploy{}, &types.Execute{}, &types.System{}, &types.Report{}),
	sum[system.Report]():     these(&system.Heartbeat{}, &system.Commit{}, &system.Reveal{}, &system.Refusal{}),
	sum[governance.Instruction](): these(&governance.CancelTimer{}, &governance.UpdateTimerConfig{}, &governance.ExtendTimer{},
		&governance.SetParameter{},
		&governance.JoinValidator{}, &governance.LeaveValidator{}),
}

func sum[E any]() reflect.Type { return reflect.TypeFor[E]() }

func these(all ...any) (out []reflect.Type) {
	for _, one := range all {
		out = append(out, reflect.TypeOf(one))
	}
	return out
}

// mark is a sum above that a method marks, where it does, and the type of the role
// whose events they are, "" for those of the machines within.
type mark struct {
	of                reflect.Type
	dir, method, role string
}

var marks = []mark{
	{sum[intakeEvent](), ".", "forIntake", "intake"},
	{sum[consensusEvent](), ".", "forConsensus", "consensus"},
	{sum[executionEvent](), ".", "forExecution", "execution"},
	{sum[archiveEvent](), ".", "forArchive", "archiving"},
	{sum[gatewayEvent](), ".", "forGateway", "connecting"},
	{sum[connection.Event](), "../internal/base/wire/connection", "isEvent", ""},
	{sum[simplex.Event](), "simplex", "isEvent", ""},
	{sum[simplex.Verified](), "simplex", "isVerified", ""},
	{sum[catchup.Event](), "catchup", "isEvent", ""},
}

// eachRole calls do for every event of every role.
func eachRole(do func(role string, event reflect.Type)) {
	for _, mark := range marks {
		for _, event := range variants[mark.of] {
			if mark.role != "" {
				do(mark.role, event)
			}
		}
	}
}

// Every role of the list is among them.
func TestNoRoleIsForgotten(t *testing.T) {
	listed := 0
	for _, mark := range marks {
		if mark.role != "" {
			listed++
		}
	}
	if all := len((&Validator{}).listRoles()); all != listed {
		t.Errorf("a validator has %d roles, and the tests know the events of %d", all, listed)
	}
}

// The tests below know every event there is.
func TestNoKindOfEventIsForgotten(t *testing.T) {
	for _, mark := range marks {
		var want []string
		for _, one := range variants[mark.of] {
			if one.Kind() == reflect.Pointer {
				one = one.Elem()
			}
			want = append(want, one.Name())
		}
		slices.Sort(want)
		if got := marked(t, mark.dir, mark.method); !slices.Equal(got, want) {
			t.Errorf("in %s, %v have the method %s; the tests know %v", mark.dir, got, mark.method, want)
		}
	}
}

// Each role does something with each of its events: what it does not know ends it.
func TestEachRoleKnowsItsEvents(t *testing.T) {
	known := map[string]bool{}
	methods(t, ".", "receiveEvent", func(of string, f *ast.FuncDecl) {
		ast.Inspect(f, func(n ast.Node) bool {
			if c, is := n.(*ast.CaseClause); is {
				for _, one := range c.List {
					known[fmt.Sprint(of, " ", one)] = true
				}
			}
			return true
		})
	})
	eachRole(func(role string, event reflect.Type) {
		if !known[role+" "+event.Name()] {
			t.Errorf("%s does not know %s", role, event.Name())
		}
	})
}

// marked lists the types of a package that have a method, by its sources.
func marked(t *testing.T, dir, method string) []string {
	found := map[string]bool{}
	methods(t, dir, method, func(of string, _ *ast.FuncDecl) { found[of] = true })
	return slices.Sorted(maps.Keys(found))
}

// methods calls each for the methods of a name in a package's sources.
func methods(t *testing.T, dir, name string, each func(of string, f *ast.FuncDecl)) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, entry.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Recv == nil || f.Name.Name != name {
				continue
			}
			of := f.Recv.List[0].Type
			if star, is := of.(*ast.StarExpr); is {
				of = star.X
			}
			each(of.(*ast.Ident).Name, f)
		}
	}
}

// Events between roles are plain data: no closure, no channel, nothing that one role
// could change under another by a lock or an atomic.
func TestEventsArePlainData(t *testing.T) {
	eachRole(func(_ string, event reflect.Type) {
		for _, fault := range impure(event) {
			t.Errorf("%s: %s", event, fault)
		}
	})
	type callback struct{ Answer func() }
	type line struct{ Answers chan int }
	type nested struct{ All []*callback }
	for _, bad := range these(callback{}, line{}, nested{}, func() {}, map[string]int{}, struct{ Any fmt.Stringer }{}) {
		if len(impure(bad)) == 0 {
			t.Errorf("%s passes for plain data", bad)
		}
	}
}

// Each event of each role can be written down and read back.
func TestEventsCanBeWrittenDownAndReadBack(t *testing.T) {
	const seeds = 20 // each fills interfaces with other variants
	eachRole(func(_ string, event reflect.Type) {
		records := map[string]bool{}
		for seed := range uint64(seeds) {
			before, after := reflect.New(event).Elem(), reflect.New(event).Elem()
			fill(before, seed)
			record := write(nil, before)
			records[string(record)] = true
			if rest := read(record, after); len(rest) > 0 {
				t.Fatalf("%s leaves %d bytes unread", event, len(rest))
			}
			if again := write(nil, after); !bytes.Equal(again, record) {
				t.Fatalf("%s is decoded as another", event)
			}
			if !holdsState(event) && !reflect.DeepEqual(before.Interface(), after.Interface()) {
				t.Fatalf("%s is decoded as\n%+v, and was\n%+v", event, after.Interface(), before.Interface())
			}
		}
		if (len(records) == 1) != (event.Size() == 0) {
			t.Errorf("%d samples of %s have %d records", seeds, event, len(records))
		}
	})
}
