package program

import (
	"slices"
	"testing"
)

func TestPlacesAreReadFromTheBeginningOfAMessage(t *testing.T) {
	for message, want := range map[string]struct {
		places []Place
		rest   string
	}{
		"line 5, in add: ValueError: line 3, in f: odd": {[]Place{{Line: 5, Function: "add"}}, "ValueError: line 3, in f: odd"},
		"line 1, in go; …; line 4, in <lambda>: E":      {[]Place{{Line: 1, Function: "go"}, {}, {Line: 4, Function: "<lambda>"}}, "E"},
		"line 2: the import of os is not allowed":       {[]Place{{Line: 2}}, "the import of os is not allowed"},
		"line 7, in loop":                     {[]Place{{Line: 7, Function: "loop"}}, ""},
		"the vault line 46, in charge: E: no": {[]Place{{Actor: "the vault", Line: 46, Function: "charge"}}, "E: no"},
		"ValueError: the line 3, in f: odd":   {nil, "ValueError: the line 3, in f: odd"},
		"the line 3 is odd":                   {nil, "the line 3 is odd"},
		"line 12345678, in f: E":              {nil, "line 12345678, in f: E"},
		"line 0, in f: E":                     {nil, "line 0, in f: E"},
		"":                                    {nil, ""},
	} {
		if places, rest := SplitPlaces(message); !slices.Equal(places, want.places) || rest != want.rest {
			t.Errorf("%q: %+v and %q, want %+v and %q", message, places, rest, want.places, want.rest)
		}
	}
}

func TestAFailedCallHasThePlacesOfBothActors(t *testing.T) {
	inner := &InnerFailure{Code: "permission_error", Told: "PermissionError: the limit is 0",
		Shown: NamePlaces("vault", "line 46, in charge; line 9, in of: PermissionError: the limit is 0")}
	for message, want := range map[string]string{
		"line 94, in subscribe: CallError: permission_error: PermissionError: the limit is 0": "gazette line 94, in subscribe: CallError: " +
			"permission_error: vault line 46, in charge; vault line 9, in of: PermissionError: the limit is 0",
		"line 95, in subscribe: ValueError: PermissionError: the limit is 0": "", // of its own
		"line 94, in subscribe: CallError: permission_error: another":        "",
		"CallError: permission_error: PermissionError: the limit is 0":       "",
	} {
		got := inner.Within(message)
		if got != message {
			got = NamePlaces("gazette", got)
		} else {
			got = ""
		}
		if got != want {
			t.Errorf("%q\n\tis shown as %q\n\twant %q", message, got, want)
		}
		if want == "" {
			continue
		}
		places := []Place{{"gazette", 94, "subscribe"}, {"vault", 46, "charge"}, {"vault", 9, "of"}}
		if all := AllPlaces(got); !slices.Equal(all, places) {
			t.Errorf("%q: its places are %v", got, all)
		}
		if again := NamePlaces("other", got); again != got {
			t.Errorf("its places have other names: %q", again)
		}
	}
	for _, hostile := range []string{"", "a; b", "a: b", "a\nb", string(make([]byte, 65))} {
		if MayName(hostile) {
			t.Errorf("%q names places", hostile)
		}
	}
}

func FuzzPlaces(f *testing.F) {
	f.Add("a line 1, in f; …; line 4, in g: CallError: x: b line 2: E")
	f.Fuzz(func(t *testing.T, message string) {
		places, rest := SplitPlaces(message)
		if len(AllPlaces(message)) < len(places) || len(rest) > len(message) {
			t.Errorf("%q", message)
		}
	})
}
