package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// MaxOrigins bounds the origins whose pages may call the API: each is compared with every
// request's.
const MaxOrigins = 16

// maxOriginBytes bounds the text of one origin: a DNS name with its scheme and
// port.
const maxOriginBytes = 300

// preflightAge is how long a browser may remember what a page of a named origin may ask.
const preflightAge = "600"

// ParseOrigin reads the origin of a page as a browser sends it: scheme, host and the port
// that is not the scheme's own. It refuses a pattern, since who matches one is not known.
func ParseOrigin(text string) (string, error) {
	if len(text) > maxOriginBytes {
		return "", fmt.Errorf("an origin has at most %d bytes, and this one %d", maxOriginBytes, len(text))
	}
	if strings.Contains(text, "*") {
		return "", fmt.Errorf("%q is a pattern: name each origin", text)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is not an origin: write scheme, host and port, like http://localhost:5173", text)
	}
	if u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery || u.Opaque != "" {
		return "", fmt.Errorf("%q has more than an origin: leave what follows the port out", text)
	}
	host := strings.ToLower(u.Hostname())
	if !isHost(host) {
		return "", fmt.Errorf("%q names no host", text)
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port, own := u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if n, err := strconv.ParseUint(port, 10, 16); port == "" || port == own {
		return u.Scheme + "://" + host, nil
	} else if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return "", fmt.Errorf("%q is not a port: write 1 to 65535", port)
	}
	return u.Scheme + "://" + host + ":" + port, nil
}

// HostVariable gives names by which clients may call the API to a program in a container.
const HostVariable = "DEVNET_HOST"

// MaxHosts bounds the names by which clients may call the API.
const MaxHosts = 16

// ParseHost reads a name by which clients may call the API: a DNS name, or .NAME for all names below
// NAME. Addresses need no name. It refuses other patterns, and a whole top-level domain.
func ParseHost(text string) (string, error) {
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	below := strings.TrimPrefix(name, ".")
	_, err := netip.ParseAddr(strings.Trim(below, "[]"))
	_, _, hasPort := strings.Cut(below, ":")
	switch {
	case len(name) > maxOriginBytes:
		return "", fmt.Errorf("a name has at most %d bytes, and this one %d", maxOriginBytes, len(name))
	case strings.Contains(name, "*"):
		return "", fmt.Errorf("%q is a pattern: write .NAME for all names below NAME", text)
	case strings.Contains(name, "/"):
		return "", fmt.Errorf("%q is more than a name: leave scheme and path out", text)
	case err == nil:
		return "", fmt.Errorf("%q is an address, by which the API may be called anyway", text)
	case hasPort:
		return "", fmt.Errorf("%q has a port: a name counts with each", text)
	case !isHost(below) || strings.Contains(below, "..") || strings.HasPrefix(below, "."):
		return "", fmt.Errorf("%q is no name of a host", text)
	case name != below && !strings.Contains(below, "."):
		return "", fmt.Errorf("%q stands for a whole domain of the top: name one below it", text)
	}
	return name, nil
}

// isHost reports whether a host can be part of a browser's origin: an ASCII DNS name, or an
// address.
func isHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	for _, c := range host {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return host != ""
}

// admitOrigin tells the browser that a page of a named origin may call a path. It reports whether
// the request comes from such a page. The supervisor's paths are for no page.
func (s *gate) admitOrigin(w http.ResponseWriter, r *http.Request) bool {
	if len(s.origins) == 0 {
		return false
	}
	head := w.Header()
	head.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !slices.Contains(s.origins, origin) || strings.HasPrefix(r.URL.Path, nodePaths) {
		return false
	}
	head.Set("Access-Control-Allow-Origin", origin)
	head.Set("Access-Control-Expose-Headers", NodeHeader+", Retry-After")
	return true
}

// answerPreflight answers the question of a browser before it sends an admitted page's request.
func answerPreflight(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	head := w.Header()
	head.Set("Access-Control-Allow-Methods", strings.Join(methods, ", "))
	head.Set("Access-Control-Allow-Headers", "Content-Type, Last-Event-ID")
	head.Set("Access-Control-Max-Age", preflightAge)
	w.WriteHeader(http.StatusNoContent)
	return true
}
