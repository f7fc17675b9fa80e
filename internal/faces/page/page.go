package page

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Period is the time between two beats while something changes.
	Period = 100 * time.Millisecond

	// MaxReaders is how many may follow the beat at once: a browser needs one for all its
	// tabs. Each costs a goroutine and what its socket holds.
	MaxReaders = 256

	// openViews is how many views before the latest a beat tells again: their votes arrive.
	openViews = 4

	// writeTimeout ends a reader that takes nothing for so long.
	writeTimeout = 10 * time.Second
)

const (
	// LivePath is where the beat is. Its answer does not end.
	LivePath = "/page/live"
	// NowPath answers with one beat, which may wait for the world.
	NowPath = "/page/now"
)

// Page serves the page of one network.
type Page struct {
	assets  func() map[string]*asset
	beats   *beats
	reverts atomic.Uint64
	life    string // names this process: a browser's rows from another process are stale
}

// Serve adds the page of a network to the mux of its API. Each question to the network holds the
// world, which may be nil.
func Serve(mux *http.ServeMux, network Network, world sync.Locker) *Page {
	p := &Page{assets: sync.OnceValue(loadAssets), life: strconv.FormatInt(time.Now().UnixNano(), 36)}
	s := &sampler{network: network, world: world, life: p.rowsEra, views: tail{again: openViews}}
	p.beats = newBeats(s.sampleState, newTicker)
	mux.HandleFunc("GET /{$}", p.serveAsset)
	mux.HandleFunc("GET /page/{file...}", p.serveAsset)
	mux.HandleFunc("GET "+LivePath, p.serveLive)
	mux.HandleFunc("GET "+NowPath, p.serveNow)
	return p
}

// Revert tells browsers that the network returned to an earlier state: their rows of later
// blocks are stale.
func (p *Page) Revert() { p.reverts.Add(1) }

// rowsEra identifies the rows that a browser may keep: another process, or a revert, begins
// another era.
func (p *Page) rowsEra() string { return p.life + "." + strconv.FormatUint(p.reverts.Load(), 10) }

// newTicker is the clock of the beat.
func newTicker() (<-chan time.Time, func()) {
	t := time.NewTicker(Period)
	return t.C, t.Stop
}
