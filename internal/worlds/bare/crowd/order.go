package crowd

import (
	"encoding/binary"
	"errors"

	"github.com/cowboyinc/devnet/internal/base/types"
)

var errMalformed = errors.New("crowd: a payload of orders is malformed")

// optionalNumbers are the numbers of an order that may be missing, in the order of their bits.
func (o *Order) optionalNumbers() [8]**uint64 {
	return [...]**uint64{&o.Patience, &o.MaxFee, &o.Tip, &o.Bid, &o.BidPermille, &o.FeePermille, &o.Until,
		&o.RaisePermille}
}

// appendOrder writes an order: a byte that says which numbers are there, the numbers as
// varints, and the tier after its length. It is written by hand, since it is half of what
// the program of a member does.
func appendOrder(b []byte, o *Order) []byte {
	flags, at := byte(0), len(b)
	b = append(b, 0)
	for i, number := range o.optionalNumbers() {
		if *number != nil {
			flags |= 1 << i
			b = binary.AppendUvarint(b, **number)
		}
	}
	b[at] = flags
	for _, n := range [...]uint64{o.In, o.Value, o.Least, o.Most, o.Top, o.Count, o.Slot, uint64(len(o.Tier))} {
		b = binary.AppendUvarint(b, n)
	}
	return append(b, o.Tier...)
}

// orderReader reads what appendOrder and appendErrands wrote.
type orderReader struct {
	rest []byte
	err  error
}

func (r *orderReader) readNumber() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.rest, r.err = nil, errMalformed
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *orderReader) readBytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.rest, r.err = nil, errMalformed
		return nil
	}
	data := r.rest[:n]
	r.rest = r.rest[n:]
	return data
}

func (r *orderReader) readOrder(o *Order) {
	flags := r.readBytes(1)
	if r.err != nil {
		return
	}
	for i, number := range o.optionalNumbers() {
		if flags[0]>>i&1 == 1 {
			n := r.readNumber()
			*number = &n
		}
	}
	for _, n := range [...]*uint64{&o.In, &o.Value, &o.Least, &o.Most, &o.Top, &o.Count, &o.Slot} {
		*n = r.readNumber()
	}
	o.Tier = string(r.readBytes(r.readNumber()))
}

// readOrders reads orders after their number.
func (r *orderReader) readOrders() (all []Order) {
	for n := r.readNumber(); n > 0 && r.err == nil; n-- {
		var o Order
		r.readOrder(&o)
		all = append(all, o)
	}
	return all
}

func appendOrders(b []byte, orders []Order) []byte {
	b = binary.AppendUvarint(b, uint64(len(orders)))
	for i := range orders {
		b = appendOrder(b, &orders[i])
	}
	return b
}

func decodeOrder(data []byte) (o Order, err error) {
	r := orderReader{rest: data}
	r.readOrder(&o)
	return o, r.err
}

func decodeOrders(data []byte) ([]Order, error) {
	r := orderReader{rest: data}
	orders := r.readOrders()
	return orders, r.err
}

// errand is a member with its orders.
type errand struct {
	Member types.Address
	Orders []Order
}

func appendErrands(b []byte, errands []errand) []byte {
	b = binary.AppendUvarint(b, uint64(len(errands)))
	for i := range errands {
		b = appendOrders(append(b, errands[i].Member[:]...), errands[i].Orders)
	}
	return b
}

func decodeErrands(data []byte) (errands []errand, err error) {
	r := orderReader{rest: data}
	for n := r.readNumber(); n > 0 && r.err == nil; n-- {
		var e errand
		copy(e.Member[:], r.readBytes(uint64(len(e.Member))))
		e.Orders = r.readOrders()
		errands = append(errands, e)
	}
	return errands, r.err
}
