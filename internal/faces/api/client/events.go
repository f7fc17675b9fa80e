package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// maxEventBytes bounds one event: a block's largest receipt in hexadecimal.
const maxEventBytes = 64 << 20

// Event is one event of GET /events. Data is JSON, of the form that the kind
// names (model.EventBlock and on).
type Event struct {
	ID   string
	Kind string
	Data json.RawMessage
}

// Follow says which events to follow. The zero Follow is all from the next
// final block on.
type Follow struct {
	From   types.Height // 0: the next final block
	To     types.Height // 0: the stream does not end; otherwise it ends with this final block
	LastID string       // continue after this event; wins over From
	Kinds  []string
	Actor  string
}

// Events calls each with every event, in order, until ctx is done, each returns
// an error, the events of f.To were called, or the network ends the stream. The end of
// ctx and of f.To is not an error; an end by the network is an *Error with its reason.
func (c *Client) Events(ctx context.Context, f Follow, each func(Event) error) error {
	q := url.Values{}
	if f.From > 0 {
		q.Set("from", strconv.FormatUint(uint64(f.From), 10))
	}
	if f.To > 0 {
		q.Set("to", strconv.FormatUint(uint64(f.To), 10))
	}
	if len(f.Kinds) > 0 {
		q.Set("type", strings.Join(f.Kinds, ","))
	}
	if f.Actor != "" {
		q.Set("actor", f.Actor)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/events?"+q.Encode(), nil)
	if err != nil {
		return &Unreachable{c.base, err}
	}
	if f.LastID != "" {
		request.Header.Set("Last-Event-ID", f.LastID)
	}
	endless := http.Client{Transport: c.http.Transport}
	response, err := endless.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		return refusal(response.StatusCode, data)
	}
	whole, err := scan(response.Body, each)
	if ctx.Err() != nil || whole {
		return nil
	}
	if err == nil {
		err = &Unreachable{c.base, io.ErrUnexpectedEOF}
	}
	return err
}

// endOfStream is the comment that ends a stream.
const endOfStream = ": end"

// scan reads events until the stream ends, and reports whether that was its end.
func scan(body io.Reader, each func(Event) error) (whole bool, err error) {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 64<<10), maxEventBytes)
	var e Event
	for lines.Scan() {
		line := lines.Text()
		if line == endOfStream {
			return true, nil
		}
		if strings.HasPrefix(line, ":") {
			continue // a comment: the network shows that it lives
		}
		field, value, _ := strings.Cut(line, ": ")
		switch field {
		case "id":
			e.ID = value
		case "event":
			e.Kind = value
		case "data":
			e.Data = json.RawMessage(value)
		case "":
			if e.Kind == model.EventDropped {
				return false, dropped(e.Data)
			}
			if e.Kind != "" {
				if err := each(e); err != nil {
					return false, err
				}
			}
			e = Event{}
		}
	}
	return false, lines.Err()
}

func dropped(data []byte) error {
	e := &Error{Status: http.StatusOK}
	if err := json.Unmarshal(data, &e.ErrorBody); err != nil {
		return fmt.Errorf("the network ended the stream of events: %s", data)
	}
	return e
}
