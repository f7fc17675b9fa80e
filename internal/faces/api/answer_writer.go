package api

import (
	"bytes"
	"container/list"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"sync"
	"time"
)

// answerWriter is the answers on their way to clients. It bounds their bytes, and how many
// long ones are encoded at once. It is safe for concurrent use.
type answerWriter struct {
	encoders chan struct{} // a place for each long answer that is encoded
	most     int           // MaxAnswerBytes

	mu      sync.Mutex
	bytes   int
	writing list.List // of *flight, the oldest first
}

// flight is an answer that is written.
type flight struct {
	end   func(time.Time) error // sets the deadline of writing
	bytes int
	place *list.Element // nil: its place was taken away
}

// newAnswerWriter leaves one core of two to the chain, however many long answers are asked for.
func newAnswerWriter() *answerWriter {
	return &answerWriter{encoders: make(chan struct{}, max(runtime.GOMAXPROCS(0)/2, 1)), most: MaxAnswerBytes}
}

// writeJSON writes v as JSON to a client; huma calls it. A client that reads nothing loses its
// connection after AnswerTimeout, or when others need its bytes.
func (a *answerWriter) writeJSON(w io.Writer, v any) error {
	var body bytes.Buffer
	if err := a.encodeAnswer(&body, v); err != nil {
		return err
	}
	writer, is := w.(http.ResponseWriter)
	if !is || body.Len() <= freeAnswer {
		_, err := w.Write(body.Bytes())
		return err
	}
	f := a.beginAnswer(body.Len(), http.NewResponseController(writer).SetWriteDeadline)
	_, err := w.Write(body.Bytes())
	a.finishAnswer(f, err == nil)
	return err
}

// encodeAnswer encodes a value. A long one waits for a place.
func (a *answerWriter) encodeAnswer(to *bytes.Buffer, v any) error {
	if left := freeAnswer; isLong(reflect.ValueOf(v), &left) {
		a.encoders <- struct{}{}
		defer func() { <-a.encoders }()
	}
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// beginAnswer counts an answer until finish. If there are too many bytes, it ends the oldest
// answers, which have had the most time.
func (a *answerWriter) beginAnswer(size int, end func(time.Time) error) *flight {
	f := &flight{end: end, bytes: size}
	_ = end(time.Now().Add(AnswerTimeout)) // a recorder in tests has none
	a.mu.Lock()
	defer a.mu.Unlock()
	for oldest := a.writing.Front(); oldest != nil && a.bytes+size > a.most; oldest = a.writing.Front() {
		slow := a.writing.Remove(oldest).(*flight)
		slow.place = nil
		a.bytes -= slow.bytes
		_ = slow.end(time.Now())
	}
	a.bytes += size
	f.place = a.writing.PushBack(f)
	return f
}

// finishAnswer gives the bytes back, and lifts the deadline of a connection that is whole.
func (a *answerWriter) finishAnswer(f *flight, whole bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.place == nil {
		return
	}
	a.writing.Remove(f.place)
	a.bytes -= f.bytes
	if whole {
		_ = f.end(time.Time{})
	}
}

// isLong reports whether a value holds more bytes than are left. It looks at no more of the
// value than that.
func isLong(v reflect.Value, left *int) bool {
	*left--
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			isLong(v.Elem(), left)
		}
	case reflect.String:
		*left -= v.Len()
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			*left -= v.Len()
			break
		}
		for i := 0; i < v.Len() && *left >= 0; i++ {
			isLong(v.Index(i), left)
		}
	case reflect.Map:
		for each := v.MapRange(); *left >= 0 && each.Next(); {
			isLong(each.Value(), left)
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && *left >= 0; i++ {
			isLong(v.Field(i), left)
		}
	}
	return *left < 0
}
