// Package configfile reads the TOML file of a node's settings into a struct.
//
// An invalid setting is refused with file, line and setting; an unknown setting,
// with the closest known name. Paths in a file are relative to its folder.
package configfile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/pattern"
)

// MaxBytes bounds a file.
const MaxBytes = 1 << 20

// File is a file that was read.
type File struct {
	path, text string
}

// Error is what is wrong with a file.
type Error struct {
	File   string
	Line   int    // from 1; 0: none in particular
	Key    string // with points between tables; "" for none
	Detail string
}

func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Key != "" {
		text += ", " + e.Key
	}
	return text + ": " + e.Detail
}

// Read reads a file into a struct, all of whose fields have toml tags. Its errors are
// *Error, but for a file that cannot be read.
func Read(path string, into any) (*File, error) {
	f, meta, err := decodeFile(path, into)
	if err != nil {
		return nil, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, f.Fault(nearestKeys(reflect.TypeOf(into).Elem(), unknown[0]), unknown[0]...)
	}
	return f, nil
}

// Peek is Read for only the settings that the struct has.
func Peek(path string, into any) error {
	_, _, err := decodeFile(path, into)
	return err
}

func decodeFile(path string, into any) (f *File, meta toml.MetaData, err error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > MaxBytes {
		return nil, meta, &Error{File: path, Detail: fmt.Sprintf("%d bytes, at most %d", info.Size(), MaxBytes)}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, meta, err
	}
	f = &File{path, string(text)}
	meta, err = toml.Decode(f.text, into)
	if bad := (toml.ParseError{}); errors.As(err, &bad) {
		return nil, meta, &Error{File: path, Line: bad.Position.Line, Key: bad.LastKey, Detail: f.tomlMessage(bad)}
	}
	if err != nil {
		return nil, meta, f.newTypeError(err)
	}
	if key := noTable(reflect.TypeOf(into).Elem(), &meta); key != nil {
		return nil, meta, f.Fault("got "+kindWords(meta.Type(key...))+", want a table", key...)
	}
	return f, meta, nil
}

// leastCited is the number of characters from which a decoder's word is treated as a
// repeated value: a shorter one is not a secret, and shows where to look.
const leastCited = 4

// tomlMessage returns the decoder's message about a file that is not TOML, unless it
// repeats the value: a secret without quotes would be in every log.
func (f *File) tomlMessage(bad toml.ParseError) string {
	line := ""
	if lines := strings.Split(f.text, "\n"); bad.Position.Line >= 1 && bad.Position.Line <= len(lines) {
		line = lines[bad.Position.Line-1]
	}
	if _, value, sets := strings.Cut(line, "="); sets {
		line = value
	}
	for _, word := range regexp.MustCompile(`\w+`).FindAllString(bad.Message, -1) {
		if len(word) >= leastCited && strings.Contains(line, word) {
			return "the value is not valid TOML: write a text in quotes"
		}
	}
	return bad.Message
}

// typeError matches the decoder's message about a value of the wrong type: it is a
// plain text, unlike the message about invalid TOML. A table that points make has no line.
var typeError = pattern.CompileOnNeed(`^toml: (?:line (\d+) )?\(last key (".*")\): (.*)$`)

// wrongType and wantsTable match the decoder's two messages about a type: found and wanted,
// and found in place of a table.
var (
	wrongType  = pattern.CompileOnNeed(`^incompatible types: TOML value has type (.+); destination has type (.+)$`)
	wantsTable = pattern.CompileOnNeed(`^type mismatch for .+: expected table but found (.+)$`)
)

// kindWords returns the words for a type that the decoder names.
func kindWords(of string) string {
	switch strings.ToLower(of) {
	case "string":
		return "a text in quotes"
	case "integer", "int", "int64":
		return "a whole number"
	case "boolean", "bool":
		return "true or false"
	case "slice", "array", "[]interface {}", "[]any":
		return `a list, like ["a", "b"]`
	case "hash", "map", "map[string]interface {}", "map[string]any":
		return "a table"
	}
	return "of the type " + of
}

func (f *File) newTypeError(err error) *Error {
	wrong := &Error{File: f.path, Detail: strings.TrimPrefix(err.Error(), "toml: ")}
	if parts := typeError().FindStringSubmatch(err.Error()); parts != nil {
		wrong.Line, _ = strconv.Atoi(parts[1])
		wrong.Key, wrong.Detail = parts[2], parts[3]
		if key, err := strconv.Unquote(parts[2]); err == nil {
			wrong.Key = key
		}
		if parts[1] == "" {
			wrong.Line = findLine(f.text, wrong.Key)
		}
	}
	if parts := wrongType().FindStringSubmatch(wrong.Detail); parts != nil {
		wrong.Detail = "got " + kindWords(parts[1]) + ", want " + kindWords(parts[2])
		if strings.HasPrefix(parts[1], "map") && strings.Contains(wrong.Key, ".") {
			wrong.Detail += `: a name with points is in quotes itself, as "a.b" = "3"`
		}
	} else if parts := wantsTable().FindStringSubmatch(wrong.Detail); parts != nil {
		wrong.Detail = "got " + kindWords(parts[1]) + ", want a table"
	}
	return wrong
}

// Fault says what is wrong with the setting of a key.
func (f *File) Fault(detail string, key ...string) *Error {
	return &Error{File: f.path, Line: lineOf(f.text, key), Key: toml.Key(key).String(), Detail: detail}
}

// Key reads the node's secret: from the file itself, where key has it, or from the
// file that keyFile names.
func (f *File) Key(key, keyFile string) (*crypto.Key, error) {
	text, name := key, "key"
	if keyFile != "" {
		if text != "" {
			return nil, f.Fault("give key or key_file, not both", "key_file")
		}
		name = "key_file"
		held, err := os.ReadFile(f.Beside(keyFile))
		if err != nil {
			return nil, f.Fault(err.Error()+": the file of a key has 0x and 64 hexadecimal digits", name)
		}
		text = string(held)
	}
	if text == "" && keyFile == "" {
		return nil, f.Fault(`the node has no key: name its file by key_file = "FILE"`, name)
	}
	made, err := ParseKey(text)
	if err != nil {
		return nil, f.Fault(err.Error(), name)
	}
	return made, nil
}

// ParseKey reads a node's secret, as a file of a key has it.
func ParseKey(text string) (*crypto.Key, error) {
	digits, prefixed := strings.CutPrefix(strings.TrimSpace(text), "0x")
	secret, err := hex.DecodeString(digits)
	if !prefixed || err != nil || len(secret) != 32 {
		return nil, errors.New("a key is 0x and 64 hexadecimal digits")
	}
	return crypto.NewKey([32]byte(secret))
}

// Beside returns the path of a file that the configuration names.
func (f *File) Beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(f.path), name)
}
