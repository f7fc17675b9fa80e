package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// kind is a type of arguments: what it is for people, and how it is read.
type kind struct {
	name string // name in signatures
	doc  string
	read func(*call, starlark.Value) (any, error)
}

// kinds are all types of arguments, and kindOrder their names as they are listed.
var (
	kinds     map[string]kind
	kindOrder []string
)

func init() {
	list := []kind{
		{"count", "a whole number, 0 or more", readCount},
		{"height", "a block's height: a whole number", readHeight},
		{"duration", `a time with its unit, like "20ms", "1.5s" or "-300ms"`, readDuration},
		{"chance", "a number from 0.0 to 1.0", readChance},
		{"bool", "True or False", readBool},
		{"text", "a string", readText},
		{"bytes", `bytes like b"hello"; a string stands for its UTF-8 bytes`, readBytes},
		{"amount", `an amount: a string like "100 CBY" or "5 wei", or a whole number of wei`, readAmount},
		{"party", "an account or actor: its name, its address as bytes or 0x-hex, an actor, a validator or a runner", readParty},
		{"sender", "an account that the devnet signs for, by name; any other party is impersonated: the system key signs and pays the fee",
			readSender},
		{"node", `a node: its name like "v0" or "r0", a validator or a runner`, readNode},
		{"nodes", `a list of nodes, like ["v0", "v1"]`, readNodes},
		{"groups", `a list of lists of nodes, like [["v0", "v1"], ["v2", "v3"]]`, readGroups},
		{"runners", "how many runners, or a list of runner(…)", readRunners},
		{"rates", `a dict of amounts by what is paid for, like {"compute_second": "5 wei"}`, readRates},
		{"function", "a function without arguments, like lambda: net.height > 5", readFunction},
		{"params", `a dict of parameters, like {"cip1.policy": "fifo"}`, readParams},
		{"link", "what link(…) returns", readLink},
		{"hash", "a hash or id: 32 bytes, or 0x-hex, or what has one, like a timer or a job", readHash},
		{"number", "a number, like 0.7", readNumber},
		{"texts", `a list of strings, like ["accept: text/html"]`, readTexts},
		{"json", `a dict of JSON values, or its text, like {\"city\": \"Oslo\"}`, readJSON},
		{"jsons", `a list of dicts of JSON values, like [{\"Equal\": [\"/city\"]}]`, readJSONs},
		{"args", `a dict of arguments by name, like {"who": "bob", "amount": 5}; its values may be bytes, actors and other parties`, readArgs},
		{"value", "any value", func(_ *call, v starlark.Value) (any, error) { return v, nil }},
		{"names", "names of oracles, each a string", readText},
	}
	kinds = make(map[string]kind, len(list))
	for _, k := range list {
		kinds[k.name] = k
		kindOrder = append(kindOrder, k.name)
	}
}

// errWrongKind is the error of a value that is not of a kind.
func errWrongKind(kind string, got starlark.Value) error {
	text := got.String()
	if len(text) > 60 {
		text = text[:60] + "…"
	}
	return fmt.Errorf("is %s; got %s %s", kinds[kind].doc, got.Type(), text)
}

func readCount(_ *call, v starlark.Value) (any, error) {
	if n, ok := v.(starlark.Int); ok {
		if u, ok := n.Uint64(); ok {
			return u, nil
		}
	}
	return nil, errWrongKind("count", v)
}

func readHeight(_ *call, v starlark.Value) (any, error) {
	if n, ok := v.(starlark.Int); ok {
		if u, ok := n.Uint64(); ok {
			return types.Height(u), nil
		}
	}
	return nil, errWrongKind("height", v)
}

func readDuration(_ *call, v starlark.Value) (any, error) {
	switch v := v.(type) {
	case starlark.String:
		if d, err := time.ParseDuration(string(v)); err == nil {
			return d, nil
		}
	case starlark.Int:
		if n, ok := v.Int64(); ok && n == 0 {
			return time.Duration(0), nil
		}
	}
	return nil, errWrongKind("duration", v)
}

func readChance(_ *call, v starlark.Value) (any, error) {
	if f, ok := starlark.AsFloat(v); ok && f >= 0 && f <= 1 {
		return f, nil
	}
	return nil, errWrongKind("chance", v)
}

func readBool(_ *call, v starlark.Value) (any, error) {
	if b, ok := v.(starlark.Bool); ok {
		return bool(b), nil
	}
	return nil, errWrongKind("bool", v)
}

func readText(_ *call, v starlark.Value) (any, error) {
	if s, ok := v.(starlark.String); ok {
		return string(s), nil
	}
	return nil, errWrongKind("text", v)
}

func readNumber(_ *call, v starlark.Value) (any, error) {
	if f, ok := starlark.AsFloat(v); ok {
		return f, nil
	}
	return nil, errWrongKind("number", v)
}

func readTexts(_ *call, v starlark.Value) (any, error) {
	list, ok := v.(starlark.Iterable)
	if !ok {
		return nil, errWrongKind("texts", v)
	}
	texts := []string{}
	for _, one := range listElements(list) {
		text, ok := one.(starlark.String)
		if !ok {
			return nil, errWrongKind("texts", v)
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}

func readJSON(_ *call, v starlark.Value) (any, error) {
	text, err := starlark.Call(new(starlark.Thread), starlarkjson.Module.Members["encode"], starlark.Tuple{v}, nil)
	if err != nil {
		return nil, errWrongKind("json", v)
	}
	return json.RawMessage(text.(starlark.String)), nil
}

func readJSONs(c *call, v starlark.Value) (any, error) {
	list, ok := v.(starlark.Iterable)
	if !ok {
		return nil, errWrongKind("jsons", v)
	}
	var all []json.RawMessage
	for _, one := range listElements(list) {
		text, err := readJSON(c, one)
		if err != nil {
			return nil, errWrongKind("jsons", v)
		}
		all = append(all, text.(json.RawMessage))
	}
	return all, nil
}

// readArgs writes arguments as JSON: a whole number as digits, since JSON's numbers end at 2^53.
func readArgs(c *call, v starlark.Value) (any, error) {
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil, errWrongKind("args", v)
	}
	plain, err := jsonArgument(c, d, 0)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(plain)
	return json.RawMessage(text), err
}

// maxArgumentDepth is that of a schema's types, and of their containers.
const maxArgumentDepth = 64

// jsonArgument is a value that encoding/json writes as an argument's JSON.
func jsonArgument(c *call, v starlark.Value, depth int) (any, error) {
	if depth > maxArgumentDepth {
		return nil, fmt.Errorf("is deeper than %d", maxArgumentDepth)
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return nil, nil
	case starlark.Bool:
		return bool(v), nil
	case starlark.Int:
		if n, small := v.Int64(); small && n >= -1<<53 && n <= 1<<53 {
			return n, nil
		}
		return v.String(), nil
	case starlark.String:
		return string(v), nil
	case starlark.Bytes:
		return types.Bytes(v), nil
	case *starlark.Dict:
		all := make(map[string]any, v.Len())
		for _, item := range v.Items() {
			key, ok := item[0].(starlark.String)
			if !ok {
				return nil, errWrongKind("args", v)
			}
			one, err := jsonArgument(c, item[1], depth+1)
			if err != nil {
				return nil, err
			}
			all[string(key)] = one
		}
		return all, nil
	case *starlark.List, starlark.Tuple:
		all := []any{}
		for _, item := range listElements(v.(starlark.Iterable)) {
			one, err := jsonArgument(c, item, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		return all, nil
	}
	party, err := readParty(c, v)
	if err != nil {
		return nil, errWrongKind("args", v)
	}
	return party.(types.Address).String(), nil
}

// readRunners reads a number of runners as as many without terms.
func readRunners(_ *call, v starlark.Value) (any, error) {
	if n, ok := v.(starlark.Int); ok {
		if u, ok := n.Uint64(); ok {
			return runners{count: u}, nil
		}
	}
	list, ok := v.(starlark.Iterable)
	if _, isDict := v.(*starlark.Dict); !ok || isDict {
		return nil, errWrongKind("runners", v)
	}
	var all runners
	for _, one := range listElements(list) {
		terms, ok := one.(*termsValue)
		if !ok {
			return nil, errWrongKind("runners", v)
		}
		all.count, all.terms = all.count+1, append(all.terms, terms.terms)
	}
	return all, nil
}

// runners is how many a network begins with, and the terms of the first of them.
type runners struct {
	count uint64
	terms []model.RunnerRequest
}

func readRates(c *call, v starlark.Value) (any, error) {
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil, errWrongKind("rates", v)
	}
	rates := map[string]types.Wei{}
	for _, item := range d.Items() {
		word, isText := item[0].(starlark.String)
		amount, err := readAmount(c, item[1])
		if !isText || err != nil {
			return nil, errWrongKind("rates", v)
		}
		rates[string(word)] = amount.(types.Wei)
	}
	return rates, nil
}

func readBytes(_ *call, v starlark.Value) (any, error) {
	switch v := v.(type) {
	case starlark.Bytes:
		return []byte(v), nil
	case starlark.String:
		return []byte(v), nil
	}
	return nil, errWrongKind("bytes", v)
}

func readFunction(_ *call, v starlark.Value) (any, error) {
	f, ok := v.(starlark.Callable)
	if !ok {
		return nil, fmt.Errorf("%w; write lambda: before it", errWrongKind("function", v))
	}
	return f, nil
}

func readLink(_ *call, v starlark.Value) (any, error) {
	if l, ok := v.(*linkValue); ok {
		return l.link, nil
	}
	return nil, errWrongKind("link", v)
}

func readHash(_ *call, v starlark.Value) (any, error) {
	switch v := v.(type) {
	case starlark.Bytes:
		if len(v) == len(types.Hash{}) {
			return types.Hash([]byte(v)), nil
		}
	case starlark.String:
		if h, err := types.ParseHash(string(v)); err == nil {
			return h, nil
		}
	case *jobValue:
		return v.id, nil
	case *record:
		if id, err := v.Attr("id"); err == nil && id != nil {
			return readHash(nil, id)
		}
	}
	return nil, errWrongKind("hash", v)
}

func readParams(_ *call, v starlark.Value) (any, error) {
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil, errWrongKind("params", v)
	}
	out := map[string]string{}
	for _, item := range d.Items() {
		key, ok := item[0].(starlark.String)
		if !ok {
			return nil, errWrongKind("params", v)
		}
		text, err := paramText(item[1])
		if err != nil {
			return nil, fmt.Errorf("has for %s %w", key, err)
		}
		out[string(key)] = text
	}
	return out, nil
}

// paramText writes a parameter's value as the chain does.
func paramText(v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.String:
		return string(v), nil
	case starlark.Int:
		return v.String(), nil
	case starlark.Bool:
		return strings.ToLower(v.String()), nil
	}
	return "", fmt.Errorf("a %s: a parameter is a string, a whole number, True or False", v.Type())
}

// Units of amounts, in powers of ten of wei (decision C13).
var units = map[string]int{"CBY": 9, "wei": 0}

func readAmount(_ *call, v starlark.Value) (any, error) {
	switch v := v.(type) {
	case starlark.Int:
		if w, ok := types.WeiFromBig(v.BigInt()); ok && v.Sign() >= 0 {
			return w, nil
		}
	case starlark.String:
		w, err := ParseAmount(string(v))
		if err == nil {
			return w, nil
		}
	}
	return nil, errWrongKind("amount", v)
}

// ParseAmount reads an amount with its unit: "100 CBY", "0.5 CBY", "7 wei".
func ParseAmount(text string) (types.Wei, error) {
	bad := fmt.Errorf("invalid amount %q: write 100 CBY, 0.5 CBY or 7 wei", text)
	number, unit, found := strings.Cut(strings.TrimSpace(text), " ")
	digits, known := units[strings.TrimSpace(unit)]
	if !found || !known {
		return types.Wei{}, bad
	}
	whole, part, _ := strings.Cut(number, ".")
	if len(part) > digits || len(number) > 90 || whole == "" {
		return types.Wei{}, bad
	}
	for _, c := range whole + part {
		if c < '0' || c > '9' {
			return types.Wei{}, bad
		}
	}
	n, ok := new(big.Int).SetString(whole+part+strings.Repeat("0", digits-len(part)), 10)
	if !ok {
		return types.Wei{}, bad
	}
	wei, ok := types.WeiFromBig(n)
	if !ok {
		return types.Wei{}, bad
	}
	return wei, nil
}

func readParty(c *call, v starlark.Value) (any, error) {
	switch v := v.(type) {
	case *actorValue:
		return v.address, nil
	case *validatorValue:
		return v.addressOf(), nil
	case *runnerValue:
		return v.at, nil
	case starlark.Bytes:
		if len(v) == len(types.Address{}) {
			return types.Address([]byte(v)), nil
		}
	case *record:
		if address, err := v.Attr("address"); err == nil && address != nil {
			return readParty(c, address)
		}
	case starlark.String:
		if strings.HasPrefix(string(v), "0x") {
			if a, err := types.ParseAddress(string(v)); err == nil {
				return a, nil
			}
			break
		}
		return c.networkOf().findAddress(string(v))
	}
	return nil, errWrongKind("party", v)
}

// sender is the origin of a transaction: an account that signs, or an impersonated
// one.
type sender struct {
	name string
	as   *types.Address
}

func readSender(c *call, v starlark.Value) (any, error) {
	name, text := starlark.AsString(v)
	if text && (name == wallet.System || c.networkOf().backend.Signer(name) != nil) {
		return sender{name: name}, nil
	}
	at, err := readParty(c, v)
	if err != nil && text && !strings.HasPrefix(name, "0x") {
		return sender{name: name}, nil // submit says which accounts there are
	}
	if err != nil {
		return nil, err
	}
	address := at.(types.Address)
	for _, a := range c.networkOf().backend.Accounts() {
		if a.Address == address && c.networkOf().backend.Signer(a.Name) != nil {
			return sender{name: a.Name}, nil
		}
	}
	return sender{c.networkOf().nameOf(address), &address}, nil
}

// findAddress finds an account, an actor or a validator by name.
func (n *network) findAddress(name string) (types.Address, error) {
	var known []string
	for _, a := range n.backend.Accounts() {
		if a.Name == name {
			return a.Address, nil
		}
		known = append(known, a.Name)
	}
	for _, node := range n.backend.Nodes() {
		if node.Name == name {
			return node.Validator.Address, nil
		}
		known = append(known, node.Name)
	}
	for _, r := range n.backend.Runners() {
		if r.Name == name {
			return r.Address, nil
		}
		known = append(known, r.Name)
	}
	for _, a := range n.actors {
		if a.name == name && name != "" {
			return a.address, nil
		}
		known = append(known, a.name)
	}
	return types.Address{}, fmt.Errorf("names %q, and no account, actor or node is called so%s", name, suggestNames(name, known))
}

func readNode(c *call, v starlark.Value) (any, error) {
	switch v := v.(type) {
	case *validatorValue:
		return v.called, nil
	case *runnerValue:
		if name := v.nodeName(); name != "" {
			return name, nil
		}
	case starlark.String:
		known := c.networkOf().nodeNames()
		if slices.Contains(known, string(v)) {
			return string(v), nil
		}
		return nil, fmt.Errorf("names %s, and there is no such node; the nodes are %s", v, strings.Join(shortenList(known), ", "))
	}
	return nil, errWrongKind("node", v)
}

// nodeNames lists the names of all nodes, validators first.
func (n *network) nodeNames() (names []string) {
	for _, node := range n.backend.Nodes() {
		names = append(names, node.Name)
	}
	for _, r := range n.backend.Runners() {
		names = append(names, r.Name)
	}
	return names
}

func readNodes(c *call, v starlark.Value) (any, error) {
	list, ok := v.(starlark.Iterable)
	if !ok {
		return nil, errWrongKind("nodes", v)
	}
	var names []string
	for _, one := range listElements(list) {
		name, err := readNode(c, one)
		if err != nil {
			return nil, err
		}
		names = append(names, name.(string))
	}
	return names, nil
}

func readGroups(c *call, v starlark.Value) (any, error) {
	list, ok := v.(starlark.Iterable)
	if !ok {
		return nil, errWrongKind("groups", v)
	}
	var groups [][]string
	for _, one := range listElements(list) {
		if _, ok := one.(starlark.Iterable); !ok {
			return nil, errWrongKind("groups", v)
		}
		names, err := readNodes(c, one)
		if err != nil {
			return nil, err
		}
		groups = append(groups, names.([]string))
	}
	return groups, nil
}

func listElements(list starlark.Iterable) (out []starlark.Value) {
	iter := list.Iterate()
	defer iter.Done()
	var one starlark.Value
	for iter.Next(&one) {
		out = append(out, one)
	}
	return out
}

// networkOf is the network that the call is about.
func (c *call) networkOf() *network { return c.r.net }

func asRefusal(err error) *refusal.Error {
	var refused *refusal.Error
	if errors.As(err, &refused) {
		return refused
	}
	return nil
}
