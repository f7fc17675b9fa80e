package program

import (
	"strconv"
	"strings"
	"unicode"
)

// Place is a line of an author's code on the way to an error, as hosts of programs
// name it: "line 46, in charge". Behind the calls of other actors it has its actor
// too: "vault line 46, in charge".
type Place struct {
	Actor    string // name or address; "" where one actor alone was there
	Line     int    // 0 stands for lines that the host left out
	Function string // "" where the host refuses the line itself
}

const (
	omitted      = "…"
	beginsLine   = "line "
	beginsIn     = ", in "
	maxDigits    = 7
	maxFunction  = 200 // bytes
	maxActor     = 64  // bytes of an actor's name in a place
	ofCall       = "CallError: "
	endsOfPlaces = ";:"
)

// String is the words of a place.
func (p Place) String() string {
	if p.Line == 0 {
		return omitted
	}
	text := beginsLine + strconv.Itoa(p.Line)
	if p.Actor != "" {
		text = p.Actor + " " + text
	}
	if p.Function != "" {
		text += beginsIn + p.Function
	}
	return text
}

// SplitPlaces reads the places at the beginning of a message, innermost last, and
// returns what follows them.
func SplitPlaces(message string) (places []Place, rest string) {
	for {
		p, after, ok := cutPlace(message)
		if !ok {
			return places, message
		}
		places = append(places, p)
		if more, follows := strings.CutPrefix(after, "; "); follows {
			message = more
			continue
		}
		return places, strings.TrimPrefix(after, ": ")
	}
}

// AllPlaces reads the places of a message with those within the calls of other actors,
// innermost last.
func AllPlaces(message string) (places []Place) {
	for {
		found, rest := SplitPlaces(message)
		if len(places) > 0 && (len(found) == 0 || found[0].Actor == "") {
			return places
		}
		places = append(places, found...)
		called, is := strings.CutPrefix(rest, ofCall)
		_, message, _ = strings.Cut(called, ": ")
		if len(found) == 0 || !is {
			return places
		}
	}
}

// cutPlace reads one place, which is the whole text or followed by a mark.
func cutPlace(text string) (p Place, after string, ok bool) {
	if rest, is := strings.CutPrefix(text, omitted); is && strings.HasPrefix(rest, "; ") {
		return Place{}, rest, true
	}
	if !strings.HasPrefix(text, beginsLine) {
		at := strings.Index(text, " "+beginsLine)
		if at < 1 || at > maxActor || strings.ContainsAny(text[:at], endsOfPlaces) {
			return Place{}, "", false
		}
		p.Actor, text = text[:at], text[at+1:]
	}
	text = text[len(beginsLine):]
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if digits == 0 || digits > maxDigits {
		return Place{}, "", false
	}
	p.Line, _ = strconv.Atoi(text[:digits])
	text = text[digits:]
	if in, is := strings.CutPrefix(text, beginsIn); is {
		end := strings.IndexAny(in, endsOfPlaces)
		if end < 0 {
			end = len(in)
		}
		if end == 0 || end > maxFunction {
			return Place{}, "", false
		}
		p.Function, text = in[:end], in[end:]
	}
	ok = p.Line > 0 && (text == "" || strings.HasPrefix(text, "; ") || strings.HasPrefix(text, ": "))
	return p, text, ok
}

// MayName reports whether places can be told by an actor's name.
func MayName(name string) bool {
	return name != "" && len(name) <= maxActor && strings.IndexFunc(name, func(c rune) bool {
		return strings.ContainsRune(endsOfPlaces, c) || !unicode.IsGraphic(c)
	}) < 0
}

// NamePlaces gives the places at the beginning of a message their actor. A message
// without places, or whose places have actors, stays.
func NamePlaces(actor, message string) string {
	places, rest := SplitPlaces(message)
	if len(places) == 0 {
		return message
	}
	words := make([]string, len(places))
	for i, p := range places {
		if p.Actor != "" {
			return message
		}
		p.Actor = actor
		words[i] = p.String()
	}
	return strings.Join(words, "; ") + ": " + rest
}

// InnerFailure is a failed call of another actor, as its caller's error may tell it.
type InnerFailure struct {
	Code  string
	Told  string // what the caller read
	Shown string // to people: with the places of the actor that was called
}

// Within puts the places of a failed call into the message of the error that it became in
// its caller. Another message stays: the caller raised an error of its own.
func (f *InnerFailure) Within(message string) string {
	places, rest := SplitPlaces(message)
	if len(places) == 0 || rest != ofCall+f.Code+": "+f.Told {
		return message
	}
	return strings.TrimSuffix(message, f.Told) + f.Shown
}
