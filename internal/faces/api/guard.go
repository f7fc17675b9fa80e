package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/faces/web"
)

// methods are those a route may have.
var methods = []string{http.MethodGet, http.MethodPost}

// guardRoutes refuses also a path that is not served, and a method that a path has not.
func (s *Server) guardRoutes(next http.Handler, mux *http.ServeMux) http.Handler {
	g := gate{hosts: s.hosts, domains: s.domains, origins: s.origins, bodyTime: s.bodyTime, bodies: bodies{most: MaxBodies}}
	return g.refuseEarly(next, func(r *http.Request) *Error {
		if _, pattern := mux.Handler(r); pattern == "" || cleanPath(r.URL.Path) != r.URL.Path {
			return whyNoRoute(mux, r)
		}
		return s.permitPath(r.URL.Path) // before the body is read, and judged
	})
}

// gate lets requests in.
type gate struct {
	hosts    map[string]bool
	domains  []string      // each is .NAME: all names below NAME are hosts
	origins  []string      // whose pages may call every route
	bodyTime time.Duration // BodyTimeout
	bodies   bodies
}

// refuseEarly refuses requests that no route should see: requests that misrouted refuses, and bodies
// that are too long or too slow. It also refuses those from another site's page that reached
// this server, by a name that resolves to it, a form or an embedded address. It admits pages of
// named origins. A bug of ours ends one request, not the network.
func (s *gate) refuseEarly(next http.Handler, misrouted func(*http.Request) *Error) http.Handler {
	sites := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				slog.Error("a request met a bug", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				writeError(w, asError(fmt.Errorf("panic: %v", p)))
			}
		}()
		setSecurityHeaders(w.Header())
		if !s.allowsHost(r.Host) {
			writeError(w, Refuse(http.StatusForbidden, "forbidden_host", "the Host header %q is not a name of this server", clipText(r.Host)).
				Hint("Call it as localhost or by its IP address, or start it with --host NAME (in a container the variable %s).",
					HostVariable).At("Host"))
			return
		}
		admitted := s.admitOrigin(w, r)
		if admitted && answerPreflight(w, r) {
			return
		}
		if err := sites.Check(r); err != nil && !admitted {
			writeError(w, Refuse(http.StatusForbidden, "forbidden_origin", "a page of another site may not drive the devnet: %v", err).
				Hint("Call the API from outside a browser, or start it with --cors ORIGIN. Behind a proxy, have it pass the Host header on.").
				At("Origin"))
			return
		}
		if r.Header.Get("Sec-Fetch-Site") == "cross-site" && !admitted && !isPageVisit(r) {
			writeError(w, Refuse(http.StatusForbidden, "forbidden_origin", "a page of another site may not read the devnet").
				Hint("Open its page at /, or start it with --cors ORIGIN.").At("Sec-Fetch-Site"))
			return
		}
		if wrong := misrouted(r); wrong != nil {
			writeError(w, wrong)
			return
		}
		if r.Method == http.MethodPost && !s.readBody(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// setSecurityHeaders forbids pages of other sites to frame or embed an answer.
func setSecurityHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
}

// isPageVisit reports whether a browser opens the page itself. A link on another site may open
// it.
func isPageVisit(r *http.Request) bool {
	return r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// readBody reads the whole body within its limits of size and time, so that no
// deadline of reading is left to end a request that waits for a block. It
// answers and returns false where that fails.
func (s *gate) readBody(w http.ResponseWriter, r *http.Request) bool {
	reading := s.bodies.beginBody(w, s.bodyTime)
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	s.bodies.endBody(reading, err == nil)
	if err != nil {
		// The server does not wait for the rest of the client's body: the deadline
		// stays in the past.
		w.Header().Set("Connection", "close")
	}
	var tooLong *http.MaxBytesError
	var network net.Error
	switch {
	case errors.As(err, &tooLong):
		writeError(w, invalidRequest(http.StatusRequestEntityTooLarge, "the body is too long").(*Error))
	case errors.As(err, &network) && network.Timeout():
		writeError(w, invalidRequest(http.StatusRequestTimeout, "the body did not arrive in time").(*Error))
	case err != nil:
		writeError(w, invalidRequest(http.StatusBadRequest, "the body cannot be read", err).(*Error))
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	return err == nil
}

// isCheatPath says whether only the devnet has a path. The supervisor of a node has its own
// secret.
func isCheatPath(path string) bool {
	return path == "/faucet" || strings.HasPrefix(path, "/devnet/") && !strings.HasPrefix(path, nodePaths)
}

// nodePaths begins the paths of a node's supervisor.
const nodePaths = "/devnet/node/"

// allowsHost reports whether a client may call the server by host. A page that rebinds
// its own name to this machine sends that name; an IP address cannot be rebound.
func (s *gate) allowsHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || s.hosts[name] {
		return true
	}
	if slices.ContainsFunc(s.domains, func(domain string) bool { return strings.HasSuffix(name, domain) && name != domain }) {
		return true
	}
	return net.ParseIP(strings.Trim(name, "[]")) != nil
}

// cleanPath is the shortest form of a path. A folder of the author's own page ends with a slash.
func cleanPath(p string) string {
	short := path.Clean(p)
	if strings.HasSuffix(p, "/") && strings.HasPrefix(short+"/", web.Path) {
		short += "/"
	}
	return short
}

// whyNoRoute says what is wrong with a request that no route takes.
func whyNoRoute(mux *http.ServeMux, r *http.Request) *Error {
	if meant := cleanPath(r.URL.Path); meant != r.URL.Path {
		return Refuse(http.StatusNotFound, "unknown_path", "no path %s", clipText(r.URL.Path)).Hint("Perhaps %s was meant.", clipText(meant))
	}
	var others []string
	for _, method := range methods {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "" {
			others = append(others, method)
		}
	}
	if len(others) > 0 {
		return Refuse(http.StatusMethodNotAllowed, "method_not_allowed", "%s does not take %s", clipText(r.URL.Path), r.Method).
			Hint("Use %s.", strings.Join(others, " or "))
	}
	if strings.HasPrefix(r.URL.Path, web.Path) {
		return Refuse(http.StatusNotFound, "unknown_path", "no path %s: the network serves no folder", clipText(r.URL.Path)).
			Hint("devnet up --web DIR serves the files of DIR at %s.", web.Path)
	}
	return Refuse(http.StatusNotFound, "unknown_path", "no path %s", clipText(r.URL.Path)).
		Hint("GET /openapi.json lists every path.")
}

func clipText(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}
