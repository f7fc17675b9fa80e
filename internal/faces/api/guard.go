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

// guard refuses also a path that is not served, and a method that a path has not.
func (s *Server) guard(next http.Handler, mux *http.ServeMux) http.Handler {
	g := gate{hosts: s.hosts, domains: s.domains, origins: s.origins, bodyTime: s.bodyTime, bodies: bodies{most: MaxBodies}}
	return g.guard(next, func(r *http.Request) *Error {
		if _, pattern := mux.Handler(r); pattern == "" || clean(r.URL.Path) != r.URL.Path {
			return unrouted(mux, r)
		}
		return s.permit(r.URL.Path) // before the body is read, and judged
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

// guard refuses requests that no route should see: requests that misrouted refuses, and bodies
// that are too long or too slow. It also refuses those from another site's page that reached
// this server, by a name that resolves to it, a form or an embedded address. It admits pages of
// named origins. A bug of ours ends one request, not the network.
func (s *gate) guard(next http.Handler, misrouted func(*http.Request) *Error) http.Handler {
	sites := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				slog.Error("a request met a bug", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				write(w, asError(fmt.Errorf("panic: %v", p)))
			}
		}()
		harden(w.Header())
		if !s.allows(r.Host) {
			write(w, Refuse(http.StatusForbidden, "forbidden_host", "the Host header %q is not a name of this server", clip(r.Host)).
				Hint("Call it as localhost or by its IP address, or start it with --host NAME (in a container the variable %s).",
					HostVariable).At("Host"))
			return
		}
		admitted := s.admit(w, r)
		if admitted && preflight(w, r) {
			return
		}
		if err := sites.Check(r); err != nil && !admitted {
			write(w, Refuse(http.StatusForbidden, "forbidden_origin", "a page of another site may not drive the devnet: %v", err).
				Hint("Call the API from outside a browser, or start it with --cors ORIGIN. Behind a proxy, have it pass the Host header on.").
				At("Origin"))
			return
		}
		if r.Header.Get("Sec-Fetch-Site") == "cross-site" && !admitted && !visits(r) {
			write(w, Refuse(http.StatusForbidden, "forbidden_origin", "a page of another site may not read the devnet").
				Hint("Open its page at /, or start it with --cors ORIGIN.").At("Sec-Fetch-Site"))
			return
		}
		if wrong := misrouted(r); wrong != nil {
			write(w, wrong)
			return
		}
		if r.Method == http.MethodPost && !s.body(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// harden forbids pages of other sites to frame or embed an answer.
func harden(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
}

// visits reports whether a browser opens the page itself. A link on another site may open
// it.
func visits(r *http.Request) bool {
	return r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// body reads the whole body within its limits of size and time, so that no
// deadline of reading is left to end a request that waits for a block. It
// answers and returns false where that fails.
func (s *gate) body(w http.ResponseWriter, r *http.Request) bool {
	reading := s.bodies.begin(w, s.bodyTime)
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	s.bodies.end(reading, err == nil)
	if err != nil {
		// The server does not wait for the rest of the client's body: the deadline
		// stays in the past.
		w.Header().Set("Connection", "close")
	}
	var tooLong *http.MaxBytesError
	var network net.Error
	switch {
	case errors.As(err, &tooLong):
		write(w, invalid(http.StatusRequestEntityTooLarge, "the body is too long").(*Error))
	case errors.As(err, &network) && network.Timeout():
		write(w, invalid(http.StatusRequestTimeout, "the body did not arrive in time").(*Error))
	case err != nil:
		write(w, invalid(http.StatusBadRequest, "the body cannot be read", err).(*Error))
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	return err == nil
}

// cheats says whether only the devnet has a path. The supervisor of a node has its own
// secret.
func cheats(path string) bool {
	return path == "/faucet" || strings.HasPrefix(path, "/devnet/") && !strings.HasPrefix(path, nodePaths)
}

// nodePaths begins the paths of a node's supervisor.
const nodePaths = "/devnet/node/"

// allows reports whether a client may call the server by host. A page that rebinds
// its own name to this machine sends that name; an IP address cannot be rebound.
func (s *gate) allows(host string) bool {
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

// clean is the shortest form of a path. A folder of the author's own page ends with a slash.
func clean(p string) string {
	short := path.Clean(p)
	if strings.HasSuffix(p, "/") && strings.HasPrefix(short+"/", web.Path) {
		short += "/"
	}
	return short
}

// unrouted says what is wrong with a request that no route takes.
func unrouted(mux *http.ServeMux, r *http.Request) *Error {
	if meant := clean(r.URL.Path); meant != r.URL.Path {
		return Refuse(http.StatusNotFound, "unknown_path", "no path %s", clip(r.URL.Path)).Hint("Perhaps %s was meant.", clip(meant))
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
		return Refuse(http.StatusMethodNotAllowed, "method_not_allowed", "%s does not take %s", clip(r.URL.Path), r.Method).
			Hint("Use %s.", strings.Join(others, " or "))
	}
	if strings.HasPrefix(r.URL.Path, web.Path) {
		return Refuse(http.StatusNotFound, "unknown_path", "no path %s: the network serves no folder", clip(r.URL.Path)).
			Hint("devnet up --web DIR serves the files of DIR at %s.", web.Path)
	}
	return Refuse(http.StatusNotFound, "unknown_path", "no path %s", clip(r.URL.Path)).
		Hint("GET /openapi.json lists every path.")
}

func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}
