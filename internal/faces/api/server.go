package api

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/faces/page"
	"github.com/cowboyinc/devnet/internal/faces/web"
)

func init() {
	// Both are package variables of huma; nothing else in this binary uses it.
	huma.NewError = invalidRequest
	huma.DefaultArrayNullable = false
}

// Config is the configuration of a Server.
type Config struct {
	// Hosts lists names, besides loopback's and IP addresses, by which clients may
	// call the server. .NAME stands for all names below NAME.
	Hosts []string
	// Origins are the origins, as ParseOrigin returns them, whose pages may call the API.
	Origins []string
	// World is a lock for a backend that only one goroutine at a time may use. A caller of
	// Handler's ServeHTTP holds it, except for a path that is Endless; that path, and work
	// between requests, take it themselves. Nil: the backend is for many.
	World sync.Locker
	// FreeReads has reads without a budget: the network has no real time, or one user.
	FreeReads bool
	// Node answers below /devnet/node/, which serves this node's supervisor and is
	// not part of the API; nil: there is none.
	Node http.Handler
	// Processes has figures of the nodes' processes, for GET /metrics; nil: there are none.
	Processes prometheus.Gatherer
	// Web is a folder that is served below /app/, for a page on the same origin; nil: none is.
	Web http.Handler
	// Held is the run that the backend is the network of; nil: its time passes by itself.
	Held Holding
}

// free is the lock of a backend that is for many.
type free struct{}

func (free) Lock()   {}
func (free) Unlock() {}

// Server is the HTTP API of one network.
type Server struct {
	directory
	info     answers.Info
	api      huma.API // while operations are made
	mux      *http.ServeMux
	made     func() *mountedRoutes // at the first request
	hosts    map[string]bool
	domains  []string // each is .NAME: all names below NAME are hosts
	origins  []string
	waiters  *places // who waits for a receipt
	reads    *places // requests that run programs between blocks
	budgets  *readBudgets
	turns    *readTurns
	traces   *places // requests that execute again
	readers  *places // who follows events
	ranges   *places // who reads thousands of records
	polls    polls
	answers  *answerWriter
	refusals map[string]*huma.Response // the description of each error, by status
	patience time.Duration             // WaitTimeout
	bodyTime time.Duration             // BodyTimeout
	claims   *claims
	nonces   *nonces
	feed     *feed
	metrics  *metrics
	held     Holding // or nil
	http     *http.Server
	ended    context.Context
	end      context.CancelFunc
	once     sync.Once
}

// New returns a server over backend. Close has to be called at the end. Its operations are made
// with the first request: a hundred of them are a tenth of what the start of a network takes.
func New(backend Backend, cfg Config) *Server {
	s := &Server{
		directory: directory{backend},
		info:      backend.Info(),
		mux:       http.NewServeMux(),
		hosts:     map[string]bool{},
		origins:   cfg.Origins,
		held:      cfg.Held,
		waiters: newPlaces(MaxWaiters, "too_many_waiters", "requests wait for a receipt already",
			"Use POST /submit and ask for the receipt, or follow GET /events."),
		reads:    newPlaces(MaxReads, "too_many_running", "read-only calls run or wait already", "Try again when some are done."),
		traces:   newPlaces(MaxTraces, "too_many_traces", "executions are being executed again already", "Try again when they are done."),
		readers:  newPlaces(MaxEventReaders, "too_many_readers", "clients follow events already", "Close one of them."),
		ranges:   newPlaces(MaxRanges, "too_many_ranges", "ranges are read already", "Try again when they are done."),
		polls:    polls{full: map[pollCaller]time.Time{}, waits: cfg.World == nil},
		answers:  newAnswerWriter(),
		claims:   newClaims(directory{backend}),
		nonces:   newNonces(backend),
		patience: WaitTimeout,
		bodyTime: BodyTimeout,
	}
	if !cfg.FreeReads {
		s.budgets, s.turns = newReadBudgets(), newReadTurns()
	}
	s.ended, s.end = context.WithCancel(context.Background())
	for _, host := range cfg.Hosts {
		if strings.HasPrefix(host, ".") {
			s.domains = append(s.domains, host)
			continue
		}
		s.hosts[strings.ToLower(host)] = true
	}
	s.feed = newFeed(backend)
	if cfg.World != nil {
		s.feed.world = cfg.World
	}
	s.metrics = newMetrics(backend, s.feed, cfg.Processes)
	s.feed.startAfterLatest()
	s.made = sync.OnceValue(func() *mountedRoutes { return s.makeOperations(&cfg) })
	s.http = HTTPServer(s.Handler(), s.ended)
	return s
}

// makeOperations makes what answers requests.
func (s *Server) makeOperations(cfg *Config) *mountedRoutes {
	s.api = humago.New(s.mux, s.openAPIHead())
	s.refusals = map[string]*huma.Response{}
	s.registerChain()
	s.registerColumns()
	s.registerViews()
	s.registerFind()
	s.registerLinks()
	s.registerTransactions()
	s.registerActors()
	s.registerReceipts()
	s.registerTraces()
	s.registerTimers()
	s.registerCalendar()
	s.registerJobs()
	s.registerRunners()
	s.registerPresence()
	s.registerPolling()
	s.registerNetwork()
	s.registerNodeLog()
	s.registerHeld()
	s.registerEvents()
	s.registerDevnet()
	s.registerUpgrades()
	s.registerFaults()
	s.registerRetelling()
	s.registerSteering()
	s.enumerateKinds()
	s.registerDocument()
	if cfg.Node != nil {
		s.mux.Handle(nodePaths, cfg.Node)
	}
	if cfg.Web != nil {
		s.mux.Handle("GET "+web.Path, cfg.Web)
	}
	page := page.Serve(s.mux, pageAnswers{s}, cfg.World)
	return &mountedRoutes{s.api, page, s.guardRoutes(billReads(answerInterim(s.mux)), s.mux)}
}

// mountedRoutes is what answers requests.
type mountedRoutes struct {
	api     huma.API
	page    *page.Page
	handler http.Handler
}

// HTTPServer serves a guarded handler within the limits of the API. Requests end with
// ended.
func HTTPServer(guarded http.Handler, ended context.Context) *http.Server {
	return &http.Server{
		Handler:                      guarded,
		ReadHeaderTimeout:            HeaderTimeout,
		IdleTimeout:                  IdleTimeout,
		MaxHeaderBytes:               MaxHeaderBytes,
		DisableGeneralOptionsHandler: true, // guard answers that too
		ErrorLog:                     slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
		BaseContext:                  func(net.Listener) context.Context { return ended },
	}
}

// Bounded is a listener of the API: with its limits of connections, and its one shape of
// answers.
func Bounded(l net.Listener) net.Listener {
	return shapedListener{limitListener(l, MaxConnections, MaxOriginConnections)}
}

// Handler serves the API, guards included.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.made().handler.ServeHTTP(w, r) })
}

// OpenAPI is the description of the API.
func (s *Server) OpenAPI() *huma.OpenAPI { return s.made().api.OpenAPI() }

// Serve answers on l until Close.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(Bounded(l))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends every request, the waiting and the following ones too.
func (s *Server) Close() error {
	var err error
	s.once.Do(func() {
		s.feed.closeFeed()
		s.end()
		// Waiting requests and followers are notified, and have a moment to receive
		// it.
		ctx, cancel := context.WithTimeout(context.Background(), ClosePatience)
		defer cancel()
		if s.http.Shutdown(ctx) != nil {
			err = s.http.Close()
		}
	})
	return err
}
