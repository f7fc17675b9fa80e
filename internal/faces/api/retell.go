package api

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// MaxRetoldBlocks bounds the blocks that one retelling reads.
const MaxRetoldBlocks = 20_000

func (s *Server) registerRetelling() {
	serveRead(s, operation{id: "retell", path: "/devnet/scenario", tag: tagDevnet,
		summary: "What was done by hand to this network, as a scenario that does it again: deploys, calls, payments, parameters, faults",
		description: "Of the first 20,000 blocks that are kept. What accounts of the devnet signed is done again at its height, and faults " +
			"at their heights and times. left_out has what is not.",
		errors: []int{429}, response: model.Retold{Script: "net = network(validators = 4)\nnet.transfer(\"bob\", \"5 wei\")\n",
			Files: []model.RetoldFile{}, LeftOut: []string{}}}, s.retell)
}

// deed is something that was done by hand, as a statement of a script.
type deed struct {
	at    types.Millis // when, by the network's clock
	text  string
	waits bool // time passes before it, where no block came since the deed before: it is no transaction
}

// retelling is a script that is being written.
type retelling struct {
	d       directory
	signs   map[types.Address]string // accounts that sign
	calls   map[types.Address]string // what the script calls an address by: an expression
	files   map[string]string
	deeds   []deed
	leftOut []string
	blocks  []retoldBlock
}

// retoldBlock is a block's height and time.
type retoldBlock struct {
	height types.Height
	at     types.Millis
}

func (s *Server) retell(ctx context.Context, v answers.Reader, _ *OnNode) (m model.Retold, err error) {
	free, err := s.ranges.takePlace()
	if err != nil {
		return m, err
	}
	defer free()
	r := &retelling{d: s.directory, signs: map[types.Address]string{}, calls: map[types.Address]string{}, files: map[string]string{}}
	for _, account := range s.backend.Accounts() {
		r.signs[account.Address] = account.Name
		r.calls[account.Address] = fmt.Sprintf("net.account(%q).address", account.Name)
	}
	if err := r.readBlocks(ctx, v); err != nil {
		return m, err
	}
	for _, effect := range s.backend.Faults() {
		r.addFault(&effect)
	}
	head, err := r.networkStatement(ctx, v)
	if err != nil {
		return m, err
	}
	m.Script, m.LeftOut, m.Files = head+r.body(), append([]string{}, r.leftOut...), []model.RetoldFile{}
	for name, content := range r.files { // order: sorted below
		m.Files = append(m.Files, model.RetoldFile{Name: name, Content: content})
	}
	slices.SortFunc(m.Files, func(a, b model.RetoldFile) int { return strings.Compare(a.Name, b.Name) })
	return m, nil
}

// readBlocks reads the transactions of blocks.
func (r *retelling) readBlocks(ctx context.Context, v answers.Reader) error {
	kept, err := v.Kept()
	if err != nil {
		return err
	}
	head := v.Head().Height
	if kept.From > 1 {
		r.leaveOut("all before height %d: this network dropped those blocks (--history)", kept.From)
	}
	heads, err := v.Heads(max(kept.From, 1), head, false, MaxRetoldBlocks+1) // heights that time travel skipped have none
	if err != nil {
		return err
	}
	for i := range heads {
		h := heads[i].Height
		if i == MaxRetoldBlocks {
			r.leaveOut("all from height %d on: %d blocks are read", h, MaxRetoldBlocks)
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := v.Block(h)
		if isNotKept(err) || err == nil && b == nil {
			continue // it was dropped since
		}
		if err != nil {
			return err
		}
		header := &b.Block.Header
		r.blocks = append(r.blocks, retoldBlock{h, header.Timestamp})
		receipts := map[types.Hash]*types.Receipt{}
		for i := range b.Receipts {
			receipts[b.Receipts[i].Hash] = &b.Receipts[i]
		}
		for i := range b.Block.Transactions {
			tx := &b.Block.Transactions[i]
			receipt := receipts[tx.Hash()]
			if receipt == nil || r.signs[receipt.Sender] == "" {
				continue // of a runner, or of a key that the devnet does not have
			}
			r.addTransaction(receipt, header.Timestamp, tx)
		}
	}
	return nil
}

func (r *retelling) leaveOut(format string, args ...any) {
	r.leftOut = append(r.leftOut, fmt.Sprintf(format, args...))
}

// addTransaction adds what an account of the devnet signed.
func (r *retelling) addTransaction(receipt *types.Receipt, at types.Millis, tx *types.Transaction) {
	in, err := tx.Instruction()
	if err != nil {
		return // no block has it
	}
	name := r.signs[receipt.Sender]
	by := ""
	if name != "alice" {
		by = fmt.Sprintf(", sender = %q", name)
	}
	text := ""
	switch in := in.(type) {
	case *types.Transfer:
		text = fmt.Sprintf("net.transfer(%s, %q%s)", r.partyOf(*tx.To), tx.Value.String()+" wei", by)
	case *types.Deploy:
		if receipt.Status == types.StatusOK { // net.deploy expects that
			text = r.deployStatement(in, tx, receipt.Sender, by)
		}
	case *types.Execute:
		text = fmt.Sprintf("net.send(%s, %q, %s%s", r.partyOf(*tx.To), in.Handler, r.bytesOf(in.Payload), by)
		if !tx.Value.IsZero() {
			text += fmt.Sprintf(", value = %q", tx.Value.String()+" wei")
		}
		if in.Sponsor != nil {
			text += fmt.Sprintf(", sponsor = %q", in.Sponsor.String()+" wei")
		}
		text += fmt.Sprintf(", cycles = %d, cells = %d)", tx.CyclesLimit, tx.CellsLimit)
	case *types.System:
		text = r.systemStatement(in)
	}
	if text == "" {
		r.leaveOut("height %d: a transaction of %s (%s)", receipt.Height, name, strings.TrimPrefix(fmt.Sprintf("%T", in), "*types."))
		return
	}
	r.deeds = append(r.deeds, deed{at: at - 1, text: text}) // it came before its block
}

// deployStatement deploys an actor under a variable of its own.
func (r *retelling) deployStatement(in *types.Deploy, tx *types.Transaction, sender types.Address, by string) string {
	variable := fmt.Sprintf("actor%d", len(r.calls)-len(r.signs)+1)
	r.calls[actors.ActorAddress(sender, in.Salt, in.Code)] = variable
	file := string(in.Code)
	if !strings.HasPrefix(file, actors.SamplePrefix) {
		file = cmp.Or(safeFileName(in.Manifest.Name), variable)
		for n := 2; r.files[file+".py"] != "" && r.files[file+".py"] != string(in.Code); n++ {
			file = fmt.Sprintf("%s_%d", strings.TrimRight(file, "_0123456789"), n)
		}
		file += ".py"
		r.files[file] = string(in.Code)
	}
	text := fmt.Sprintf("%s = net.deploy(%q, name = %q", variable, file, in.Manifest.Name)
	if !tx.Value.IsZero() {
		text += fmt.Sprintf(", fund = %q", tx.Value.String()+" wei")
	}
	if len(in.Init) > 0 {
		text += ", init = " + r.bytesOf(in.Init)
	}
	if terms := in.Manifest.Upgrade; terms != nil {
		text += fmt.Sprintf(", upgrade_by = %s, upgrade_delay = %d", r.partyOf(terms.By), terms.Delay)
	}
	return text + by + ")"
}

// safeFileName is a name as a file may have it in any folder, or "".
func safeFileName(name string) string {
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		return ""
	}
	return name
}

// systemStatement is an instruction of the system key; "" of one that names what another run does not have.
func (r *retelling) systemStatement(in *types.System) string {
	decoded, err := governance.Decode(in.Opcode, in.Args)
	if err != nil {
		return ""
	}
	switch i := decoded.(type) {
	case *governance.SetParameter:
		if i.Height > 0 {
			return fmt.Sprintf("net.set_param(%q, %q, at = %d)", i.Key, i.Value, i.Height)
		}
		return fmt.Sprintf("net.set_param(%q, %q)", i.Key, i.Value)
	case *governance.SetBalance:
		return fmt.Sprintf("net.set_balance(%s, %q)", r.partyOf(i.Address), i.Balance.String()+" wei")
	case *governance.SetState:
		if i.Value == nil {
			return fmt.Sprintf("net.set_state(%s, %s)", r.partyOf(i.Actor), r.bytesOf(i.Key))
		}
		return fmt.Sprintf("net.set_state(%s, %s, %s)", r.partyOf(i.Actor), r.bytesOf(i.Key), r.bytesOf(*i.Value))
	}
	return ""
}

// partyOf is what the script calls an address by: an account's name, an actor's variable, or the address.
func (r *retelling) partyOf(a types.Address) string {
	if name, known := r.signs[a]; known {
		return fmt.Sprintf("%q", name)
	}
	return cmp.Or(r.calls[a], fmt.Sprintf("%q", a.String()))
}

// bytesOf is bytes as the script has them. Addresses in them that it knows are its own: another run has other accounts.
func (r *retelling) bytesOf(data []byte) string {
	var parts []string
	plain := []byte{}
	flush := func() {
		if len(plain) > 0 {
			parts = append(parts, quoteBytes(plain))
		}
		plain = []byte{}
	}
	for i := 0; i < len(data); {
		if len(data)-i >= len(types.Address{}) {
			at := types.Address(data[i : i+len(types.Address{})])
			if call := r.calls[at]; call != "" {
				flush()
				if !strings.HasSuffix(call, ".address") {
					call += ".address"
				}
				parts = append(parts, call)
				i += len(at)
				continue
			}
		}
		plain = append(plain, data[i])
		i++
	}
	flush()
	return cmp.Or(strings.Join(parts, " + "), `b""`)
}

// quoteBytes is a literal of bytes in Starlark.
func quoteBytes(data []byte) string {
	var out bytes.Buffer
	out.WriteString(`b"`)
	for _, c := range data {
		switch {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&out, `\x%02x`, c)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// addFault adds a fault, and its end if an order ended it.
func (r *retelling) addFault(e *fault.Effect) {
	if e.Order == nil {
		return // a cheat: a transaction has it
	}
	if e.Order.Verb == fault.CrashAmid {
		return // the crash that it led to is a fault of its own
	}
	begin := r.faultStatement(e.Order, false)
	if begin == "" {
		r.leaveOut("%s %s", e.Verb, e.Detail)
		return
	}
	r.deeds = append(r.deeds, deed{at: e.Begun.Millis(), text: begin, waits: true})
	if end := r.faultStatement(e.Order, true); end != "" && e.Until > 0 && e.Until != types.Never && e.Ended {
		r.deeds = append(r.deeds, deed{at: e.Until.Millis(), text: end, waits: true})
	}
}

// faultStatement is an order in the script, or what ends it; "" where nothing does.
func (r *retelling) faultStatement(o *fault.Order, ends bool) string {
	v, on := o.Verb, "net"
	if v.OfNode() {
		kind := "validator"
		if slices.ContainsFunc(r.d.backend.Runners(), func(a answers.NamedAccount) bool { return a.Name == o.Node }) {
			kind = "runner"
		}
		on = fmt.Sprintf("net.%s(%q)", kind, o.Node)
	}
	if ends {
		end := o.EndedBy()
		switch {
		case end == nil:
			return ""
		case end.Verb != v:
			return on + "." + end.Verb.Name + "()"
		}
		return fmt.Sprintf("%s.%s(%s)", on, v.Name, r.endingArguments(end))
	}
	var given []string
	for _, a := range v.Takes {
		given = append(given, r.argumentsOf(o, v, a)...)
	}
	if !v.Mends {
		given = append(given, "may_be_idle = True")
	}
	return fmt.Sprintf("%s.%s(%s)", on, v.Name, strings.Join(given, ", "))
}

// endingArguments are those with which an order ends what others of its verb began.
func (r *retelling) endingArguments(end *fault.Order) string {
	for _, a := range end.Verb.Takes {
		switch a {
		case fault.Kind:
			return `""`
		case fault.Over:
			return fmt.Sprintf("%s, %q", r.partyOf(end.Actor), end.How)
		case fault.On:
			return "False"
		}
	}
	return "0"
}

// argumentsOf are an argument of an order as scripts state it.
func (r *retelling) argumentsOf(o *fault.Order, v *fault.Verb, a fault.Argument) []string {
	list := func(names []string) string {
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = fmt.Sprintf("%q", name)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	span := func(d time.Duration) string { return fmt.Sprintf("%q", d.String()) }
	switch a {
	case fault.Node:
		if v.OfNode() {
			return nil
		}
		return []string{fmt.Sprintf("%q", o.Node)}
	case fault.Kind:
		return []string{fmt.Sprintf("%q", strings.TrimPrefix(o.Kind, fault.Honest))}
	case fault.Over:
		return []string{r.partyOf(o.Actor), fmt.Sprintf("%q", o.How)}
	case fault.On:
		if !o.On {
			return []string{"False"}
		}
	case fault.Skew:
		return []string{span(o.Skew)}
	case fault.Delay:
		return []string{span(o.Delay)}
	case fault.Groups:
		groups := make([]string, len(o.Groups))
		for i := range o.Groups {
			groups[i] = list(o.Groups[i])
		}
		return []string{"[" + strings.Join(groups, ", ") + "]"}
	case fault.Sides:
		return []string{list(o.Left), list(o.Right)}
	case fault.Ends:
		return []string{fmt.Sprintf("%q", o.A), fmt.Sprintf("%q", o.B)}
	case fault.Properties:
		l := &o.Link
		return []string{"latency = " + span(l.Latency), "jitter = " + span(l.Jitter), fmt.Sprintf("loss = %g", l.Loss),
			fmt.Sprintf("duplicate = %g", l.Duplicate), fmt.Sprintf("reorder = %g", l.Reorder), fmt.Sprintf("bandwidth = %d", l.Bandwidth),
			"one_way = " + map[bool]string{true: "True", false: "False"}[l.OneWay]}
	case fault.Flapping:
		return []string{span(o.Up), span(o.Down), fmt.Sprint(o.Times)}
	case fault.Rejoining:
		given := []string{fmt.Sprint(o.AfterBlocks)}
		if o.NewIdentity {
			given = append(given, "new_identity = True")
		}
		return given
	case fault.Offers:
		return []string{"add = " + list(o.Add), "remove = " + list(o.Remove)}
	case fault.Victim:
		if o.Contract != "" {
			return []string{fmt.Sprintf("contract = %q", o.Contract)}
		}
		return []string{fmt.Sprintf("role = %q", o.Role)}
	}
	return nil
}

// networkStatement makes the network as it was at genesis, with the parameters that differ from those of any new chain.
func (r *retelling) networkStatement(ctx context.Context, v answers.Reader) (string, error) {
	genesis, err := v.At(ctx, 0)
	if refused := Answer(err); refused != nil && refused.Body.Code == answers.CodeNotKept {
		r.leaveOut("how parameters were at genesis: those of now stand for them")
		genesis, err = v, nil
	}
	if err != nil {
		return "", err
	}
	all, err := genesis.Params()
	if err != nil {
		return "", err
	}
	blockTime, auto := "1000", false
	var given []string
	for i := range all {
		p := &all[i]
		info, _ := params.Lookup(p.Key)
		switch {
		case p.Key == "chain.block_time_ms":
			blockTime = p.Value
		case p.Key == "chain.block_time_auto":
			auto = p.Value == "true"
		case p.Key != "chain.cheats" && p.Value != p.Default && p.Value != info.Begins:
			given = append(given, fmt.Sprintf("%q: %q", p.Key, p.Value))
		}
	}
	pace := fmt.Sprintf("%q", blockTime+"ms")
	if auto {
		pace = `"auto"`
	}
	text := fmt.Sprintf("net = network(validators = %d, runners = %d, block_time = %s", len(r.d.backend.Nodes()),
		len(r.d.backend.Runners()), pace)
	if len(given) > 0 {
		text += ", params = {" + strings.Join(given, ", ") + "}"
	}
	return "# What was done by hand to a network, at its heights: written by devnet scenario.\n" + text + ")\n\n" +
		"def to(height):\n    \"\"\"Lets the network run up to a height, or until no block comes.\"\"\"\n" +
		"    if net.height < height:\n        net.run(blocks = height - net.height)\n\n", nil
}

// body is the deeds in their order, each at its height.
func (r *retelling) body() string {
	slices.SortStableFunc(r.deeds, func(a, b deed) int { return cmp.Compare(a.at, b.at) })
	var out strings.Builder
	last, lastAt := types.Height(0), types.Millis(0)
	healed := types.Millis(0)
	for i := range r.deeds {
		d := &r.deeds[i]
		if d.text == "net.heal()" { // one order ends all faults of links, and another cut replaces one
			replaced := slices.ContainsFunc(r.deeds, func(o deed) bool {
				return o.at == d.at && (strings.HasPrefix(o.text, "net.partition(") || strings.HasPrefix(o.text, "net.bridge("))
			})
			if healed == d.at || replaced {
				continue
			}
			healed = d.at
		}
		height, since := r.positionOf(d.at)
		if height > last {
			r.writeWay(&out, last, height)
			last, lastAt = height, since
		}
		if gap := d.at - max(lastAt, since); d.waits && gap > 0 {
			fmt.Fprintf(&out, "net.run(time = \"%dms\")\n", min(gap, types.Millis(time.Hour/time.Millisecond)))
			lastAt = d.at
		}
		out.WriteString(d.text + "\n")
	}
	if n := len(r.blocks); n > 0 {
		r.writeWay(&out, last, r.blocks[n-1].height)
	}
	for _, what := range r.leftOut {
		out.WriteString("# Left out: " + strings.Join(strings.Fields(what), " ") + "\n")
	}
	return out.String()
}

// writeWay writes how the script comes from a height to a later one: by travel where no block was made on the way.
func (r *retelling) writeWay(out *strings.Builder, from, to types.Height) {
	for i := 1; i < len(r.blocks); i++ {
		before, after := r.blocks[i-1].height, r.blocks[i].height
		if after == before+1 || after <= from || after > to {
			continue
		}
		fmt.Fprintf(out, "to(%d)\nnet.advance(to = %d)\n", before, after)
	}
	fmt.Fprintf(out, "to(%d)\n", to)
}

// positionOf is the height that was final at a time, and since when.
func (r *retelling) positionOf(at types.Millis) (types.Height, types.Millis) {
	i, _ := slices.BinarySearchFunc(r.blocks, at, func(b retoldBlock, at types.Millis) int {
		if b.at <= at {
			return -1
		}
		return 1
	})
	if i == 0 {
		return 0, at
	}
	return r.blocks[i-1].height, r.blocks[i-1].at
}
