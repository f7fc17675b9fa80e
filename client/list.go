package client

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/faces/api/client"
)

// pageSize is the most entries that the network answers at a time.
const pageSize = 1000

// maxEntries bounds a list that is read whole: what a network answers may have no end.
const maxEntries = 10_000_000

// whole reads a list page by page.
func whole[T any](read func(client.Page) ([]T, error)) ([]T, error) {
	all := []T{}
	for len(all) < maxEntries {
		part, err := read(client.Page{Offset: len(all), Limit: pageSize})
		if err != nil {
			return nil, err
		}
		if all = append(all, part...); len(part) < pageSize {
			return all, nil
		}
	}
	return nil, fmt.Errorf("the list has more than %d entries: select fewer", maxEntries)
}

// errNoProgress is that a network answers the same part of a story again.
var errNoProgress = errors.New("the network returned a page that follows no other")

// given is a pointer to a value that was given, and nil for the zero value.
func given[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// orAlice returns the default signer if none is named.
func orAlice(from string) string {
	if from == "" {
		return "alice"
	}
	return from
}
