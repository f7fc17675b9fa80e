package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// optional is a query parameter that may be absent.
type optional[T any] struct {
	Value T
	set   bool
}

// orElse returns the parameter, or another value if it is absent.
func (o *optional[T]) orElse(otherwise T) T {
	if o.set {
		return o.Value
	}
	return otherwise
}

// Receiver, OnParamSet and Schema are how huma fills and describes it.
func (o *optional[T]) Receiver() reflect.Value      { return reflect.ValueOf(&o.Value).Elem() }
func (o *optional[T]) OnParamSet(isSet bool, _ any) { o.set = isSet }
func (*optional[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}
