package configfile

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/cowboyinc/devnet/internal/base/typo"
)

// nearestKeys returns the known keys for an unknown key of a settings type, the closest
// first.
func nearestKeys(at reflect.Type, key toml.Key) string {
	for _, name := range key {
		for at.Kind() == reflect.Pointer || at.Kind() == reflect.Map {
			if at.Kind() == reflect.Map { // of a table whose names the owner chooses
				at = at.Elem()
				name = ""
				break
			}
			at = at.Elem()
		}
		if name == "" {
			continue
		}
		if at.Kind() != reflect.Struct {
			break
		}
		field, names := fieldOf(at, name)
		if field == nil {
			return unknownKeyMessage(name, names)
		}
		at = field.Type
	}
	return "there is no such setting"
}

// noTable returns the first key that a settings type has as a map, and whose value is not a table,
// or nil. The decoder skips such a value.
func noTable(settings reflect.Type, meta *toml.MetaData) toml.Key {
	for _, key := range meta.Keys() {
		at := settings
		for _, name := range key {
			for at.Kind() == reflect.Pointer {
				at = at.Elem()
			}
			switch at.Kind() {
			case reflect.Map:
				at = at.Elem()
				continue
			case reflect.Struct:
				if field, _ := fieldOf(at, name); field != nil {
					at = field.Type
					continue
				}
			}
			at = reflect.TypeFor[any]() // of an unknown key, or below a value
			break
		}
		if at.Kind() == reflect.Map && meta.Type(key...) != "Hash" {
			return key
		}
	}
	return nil
}

// fieldOf returns the field with a name, nil if there is none, and all names.
func fieldOf(t reflect.Type, name string) (found *reflect.StructField, names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		tag := f.Tag.Get("toml")
		if tag == "" || tag == "-" { // no file has it
			continue
		}
		if names = append(names, tag); tag == name {
			found = &f
		}
	}
	return found, names
}

func unknownKeyMessage(name string, names []string) string {
	best := names[0]
	for _, n := range names {
		if typo.Distance(name, n) < typo.Distance(name, best) {
			best = n
		}
	}
	text := "there is no such setting; there are " + strings.Join(names, ", ")
	if typo.Distance(name, best) <= (len(name)+1)/2 {
		text = fmt.Sprintf("there is no such setting; %s may be meant, of %s", best, strings.Join(names, ", "))
	}
	return text
}

// lineOf returns the line, from 1, of a key or of the innermost table around it; 0
// if neither is written.
func lineOf(text string, key []string) int {
	for n := len(key); n > 0; n-- {
		if line := findLine(text, toml.Key(key[:n]).String()); line > 0 {
			return line
		}
	}
	return 0
}

// findLine looks for a key as a line that sets it or heads its table, or one within. Quoted parts
// are found as toml.Key writes them, which is how people write them.
func findLine(text, key string) int {
	table := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if head, is := strings.CutPrefix(line, "["); is {
			table = strings.TrimSpace(strings.SplitN(strings.TrimPrefix(head, "["), "]", 2)[0])
			table += "."
			if strings.HasPrefix(table, key+".") {
				return i + 1
			}
			continue
		}
		name, _, sets := strings.Cut(line, "=")
		if full := table + strings.TrimSpace(name); sets && (full == key || strings.HasPrefix(full, key+".")) {
			return i + 1
		}
	}
	return 0
}
