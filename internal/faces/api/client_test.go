package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cowboyinc/devnet/client"
)

// Every method of the client asks for an operation of this API, by parameters that it has.
// Every operation has such a method: none is excused. Some lists have no order.
func TestTheClientHasEachOperationAndNoOther(t *testing.T) {
	w := newWorld(t)
	all, asked := operations(w.server.OpenAPI()), map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		_, route := w.server.mux.Handler(r)
		asked[route] = true
		op := all[route]
		if op == nil {
			t.Errorf("a method asks for %s %s: no such operation", r.Method, r.URL)
			return
		}
		for name := range r.URL.Query() {
			if name != "order" && !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "query" && p.Name == name }) {
				t.Errorf("a method asks %s by %q: no such parameter", route, name)
			}
		}
		_, _ = fmt.Fprint(answer, "{}")
	}))
	defer server.Close()
	api := reflect.ValueOf(client.NewAPI(server.URL).OnNode("v0"))
	for i := range api.NumMethod() {
		callWhole(t.Context(), api.Method(i))
	}
	for route := range all {
		if !asked[route] {
			t.Errorf("no method of client.API asks for %s", route)
		}
	}
	if len(asked) != len(routes) {
		t.Errorf("%d operations were asked for, of %d", len(asked), len(routes))
	}
}

// callWhole calls a function with an argument for each parameter, and reads a list's first
// entry.
func callWhole(ctx context.Context, f reflect.Value) {
	var in []reflect.Value
	for p := range f.Type().Ins() {
		if p.Kind() == reflect.Interface {
			in = append(in, reflect.ValueOf(ctx))
			continue
		}
		v := reflect.New(p).Elem()
		fill(v)
		in = append(in, v)
	}
	for _, out := range f.Call(in) {
		if out.Kind() == reflect.Func {
			out.Call([]reflect.Value{reflect.MakeFunc(out.Type().In(0), func([]reflect.Value) []reflect.Value {
				return []reflect.Value{reflect.ValueOf(false)}
			})})
		}
	}
}

// fill sets a value, and each of its fields, to something that is sent.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		if strings.HasPrefix(v.Type().PkgPath(), "github.com/cowboyinc/devnet/client") {
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		}
	}
}
