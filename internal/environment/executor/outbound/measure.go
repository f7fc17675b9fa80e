package outbound

import (
	"fmt"
	"io"
	"net/http"
)

// measured is the shortest body whose arrival is told, in bytes: a shorter one comes with
// its header or right after.
const measured = 64 << 10

// Measure reports the bytes read from an answer's body, in whole percent of its
// Content-Length, rounded down and below 100. A body without that length, or of less than
// 64 KiB, has no reports.
func Measure(answer *http.Response, tell func(percent uint8, words string)) {
	if answer.ContentLength >= measured {
		answer.Body = &gaugedBody{ReadCloser: answer.Body, whole: answer.ContentLength, tell: tell}
	}
}

// gaugedBody is a body whose arrival is told.
type gaugedBody struct {
	io.ReadCloser
	read, whole int64
	told        int64 // percent
	tell        func(percent uint8, words string)
}

// Read implements io.Reader.
func (g *gaugedBody) Read(into []byte) (int, error) {
	n, err := g.ReadCloser.Read(into)
	g.read += int64(n)
	if percent := int64(float64(g.read) / float64(g.whole) * 100); percent > g.told && percent < 100 {
		g.told = percent
		g.tell(uint8(percent), fmt.Sprintf("read %d of %d bytes", g.read, g.whole))
	}
	return n, err
}
