package clientgen

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/cowboyinc/devnet/internal/base/typed"
)

// Names that types may not have: words of TypeScript, the file's imports, and the parts
// of the language that it uses.
const tsTypes = "Actor Chain Hex Options Receipt Schema Record Promise Uint8Array schema any as async await bigint boolean break case " +
	"catch class const continue debugger declare default delete do else enum export extends false finally for from function get if " +
	"implements import in infer instanceof interface is keyof let module namespace never new null number object of package private " +
	"protected public readonly require return set static string super switch symbol this throw true try type typeof undefined unique " +
	"unknown var void while with yield eval arguments"

// Names that methods may not have: constructor would be the constructor, and then
// would make every await of the actor a call.
const tsMethods = "constructor then toString toJSON valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString"

// Members of the runtime's class, whose names events may not have.
const tsOwn = "$address $call $chain $check $checked $events $name $raw $schema $send"

func (w *writer) writeTypeScript() {
	free := newNames(tsTypes)
	w.nameTypes(free, sameName)
	class := free.freeName(w.class)
	w.printLine("// Made by `%s. Do not edit.", w.headerComment())
	w.printLine("// Its schema is %s.", w.schema.Hash)
	w.printLine("import { Actor, type Chain, type Hex, type Options, type Receipt, type Schema } from './cowboy.js'")
	for i := range w.schema.Types {
		w.tsType(&w.schema.Types[i])
	}
	w.printLine("const schema: Schema = {\"hash\":%q,%s", w.schema.Hash.String(), strings.TrimPrefix(tsLiteral(w.schema.Brief()), "{"))
	w.tsDoc("", w.schema.Doc)
	w.printLine("export class %s extends Actor {", class)
	w.printLine("  constructor(chain: Chain, address: Hex | string) { super(chain, address, schema) }")
	methods := newNames(tsMethods)
	for _, h := range w.callableHandlers() {
		w.tsHandler(methods.freeName(h.Name), h)
	}
	own := newNames(tsOwn)
	for _, name := range w.schema.Events {
		method := own.freeName("$" + name)
		w.printLine("  /** The events %s of a receipt, in order. */", name)
		w.printLine("  %s(of: Receipt<unknown>): %s[] { return this.$events<%s>('%s', of) }", method, w.types[name], w.types[name], name)
	}
	w.printLine("}")
}

func (w *writer) tsDoc(indent, doc string) {
	all := docLines(doc)
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], "*/", "*\\/")
	}
	switch len(all) {
	case 0:
	case 1:
		w.printLine("%s/** %s */", indent, all[0])
	default:
		w.printLine("%s/**", indent)
		for _, line := range all {
			w.printLine("%s", strings.TrimRight(indent+" * "+line, " "))
		}
		w.printLine("%s */", indent)
	}
}

func (w *writer) tsType(t *typed.Named) {
	w.tsDoc("", t.Doc)
	if !t.IsEnum() {
		w.printLine("export interface %s %s", w.types[t.Name], w.tsFields(t.Fields))
		return
	}
	var all []string
	for i := range t.Values {
		all = append(all, memberLiteral(&t.Values[i], tsText))
	}
	w.printLine("export type %s = %s", w.types[t.Name], strings.Join(all, " | "))
}

// tsLiteral is a document of JSON as a literal of ASCII, in which no name sets a prototype.
func tsLiteral(document []byte) string {
	var out strings.Builder
	for _, r := range string(document) {
		if r < unicode.MaxASCII {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return strings.ReplaceAll(out.String(), `"__proto__":`, `["__proto__"]:`)
}

// tsText is a literal of ASCII.
func tsText(text string) string {
	quoted := strconv.QuoteToASCII(text)
	var out strings.Builder
	for i := 0; i < len(quoted); i++ { // of Go's escapes JavaScript lacks \a and \U
		switch {
		case quoted[i] == '\\' && quoted[i+1] == 'a':
			out.WriteString(`\x07`)
			i++
		case quoted[i] == '\\' && quoted[i+1] == 'U':
			out.WriteString(`\u{` + strings.TrimLeft(quoted[i+2:i+10], "0") + `}`)
			i += 9
		case quoted[i] == '\\':
			out.WriteString(quoted[i : i+2])
			i++
		default:
			out.WriteByte(quoted[i])
		}
	}
	return out.String()
}

func (w *writer) tsFields(fields []typed.Field) string {
	var all []string
	for i := range fields {
		f := &fields[i]
		mark := ""
		if f.Optional {
			mark = "?"
		}
		all = append(all, f.Name+mark+": "+w.tsOf(&f.Type))
	}
	if len(all) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(all, "; ") + " }"
}

func (w *writer) tsHandler(method string, h *typed.Handler) {
	w.tsDoc("  ", h.Doc)
	if h.Raw {
		w.printLine("  %s(payload: Uint8Array, o?: Options): Promise<Receipt<Hex>> { return this.$send('%s', payload, o) }", method, h.Name)
		return
	}
	returns := "null"
	if h.Returns != nil {
		returns = w.tsOf(h.Returns)
	}
	arguments, passed := "a: "+w.tsFields(h.Arguments)+", ", "a"
	switch {
	case len(h.Arguments) == 0:
		arguments, passed = "", "{}"
	case allOptional(h):
		arguments = strings.TrimSuffix(arguments, ", ") + " = {}, "
	}
	w.printLine("  %s(%so?: Options): Promise<Receipt<%s>> { return this.$call('%s', %s, o) }", method, arguments, returns, h.Name, passed)
}

func (w *writer) tsOf(t *typed.Type) string {
	var of []string
	for i := range t.Of {
		of = append(of, w.tsOf(&t.Of[i]))
	}
	switch t.Form {
	case typed.Integer:
		if t.Number() {
			return "number"
		}
		return "bigint"
	case typed.Bool:
		return "boolean"
	case typed.Text:
		return "string"
	case typed.Binary:
		return "Hex"
	case typed.OptionalForm:
		return of[0] + " | null"
	case typed.ListForm:
		if t.Of[0].Form == typed.OptionalForm {
			return "(" + of[0] + ")[]"
		}
		return of[0] + "[]"
	case typed.TupleForm:
		return "[" + strings.Join(of, ", ") + "]"
	case typed.DictForm:
		key := "string"
		if t.Of[0].Form == typed.Binary {
			key = "Hex"
		}
		return "Record<" + key + ", " + of[1] + ">"
	}
	return w.types[t.Name]
}
