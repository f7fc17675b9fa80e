package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
)

const (
	// pageSize is the most entries that the network answers at a time.
	pageSize = 1000
	// maxEntries bounds a list that is read whole: what a network answers may have no end.
	maxEntries = 10_000_000
)

// Page selects a part of a list; the zero Page is the whole list.
type Page struct {
	Offset int  // the first entry, from 0
	Limit  int  // how many entries at most; 0: all
	Newest bool // first, if the list is ordered
}

// listPages is a list that is read while it is iterated, at most a thousand entries a request.
// It ends with its first error. New entries may move others to another request.
func listPages[T any](ctx context.Context, a *API, path string, q query, p Page) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for had := 0; p.Limit == 0 || had < p.Limit; {
			want := pageSize
			if p.Limit > 0 {
				want = min(want, p.Limit-had)
			}
			q := q.withNumber("offset", uint64(max(0, p.Offset)+had)).withNumber("limit", uint64(want))
			if p.Newest {
				q = q.withText("order", "newest")
			}
			part, err := getJSON[[]T](ctx, a, path, q)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, entry := range part {
				if !yield(entry, nil) {
					return
				}
			}
			if had += len(part); len(part) < want {
				return
			}
		}
	}
}

// Collect reads a list whole. A list of more than ten million entries is an error.
func Collect[T any](entries iter.Seq2[T, error]) ([]T, error) {
	all := []T{}
	for entry, err := range entries {
		if err != nil {
			return nil, err
		}
		if len(all) == maxEntries {
			return nil, fmt.Errorf("the list has more than %d entries: select fewer", maxEntries)
		}
		all = append(all, entry)
	}
	return all, nil
}

// query is the parameters of a request. Zero values are left out.
type query []struct{ name, value string }

func (q query) withText(name, value string) query {
	if value == "" {
		return q
	}
	return append(q[:len(q):len(q)], struct{ name, value string }{name, value})
}

func (q query) withNumber(name string, value uint64) query {
	if value == 0 {
		return q
	}
	return q.withText(name, strconv.FormatUint(value, 10))
}

func (q query) withBool(name string, value bool) query {
	if !value {
		return q
	}
	return q.withText(name, "true")
}

// pathWithQuery is a path with this query.
func (q query) pathWithQuery(path string) string {
	values := url.Values{}
	for _, one := range q {
		values.Set(one.name, one.value)
	}
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	return path
}

// errNoProgress is that a network answers the same part of a story again.
var errNoProgress = errors.New("the network returned a page that follows no other")

// pointerOrNil is a pointer to a value that was given, and nil for the zero value.
func pointerOrNil[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// orAlice returns the default signer if none is named.
func orAlice(from string) string { return cmp.Or(from, "alice") }
