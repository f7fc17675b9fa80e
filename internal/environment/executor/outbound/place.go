package outbound

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// place is a host that jobs may go to, or several.
type place struct {
	host string // in lower case; "" for any
	deep bool   // all that ends in .host, and not host itself
	port uint16 // 0: the scheme's own
}

// Hosts returns the hosts that the places name, sorted, without duplicates and
// ports; *.NAME for all below a name, and nothing if any name is allowed.
func (f *Fence) Hosts() (hosts []string) {
	for _, p := range f.places {
		switch {
		case p.host == "":
			return nil
		case p.deep:
			hosts = append(hosts, "*."+p.host)
		default:
			hosts = append(hosts, p.host)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

func parsePlace(text string) (p place, err error) {
	fault := func(why string) (place, error) {
		return place{}, fmt.Errorf("invalid destination %.80q: %s", text, why)
	}
	host := text
	if scheme, rest, is := strings.Cut(text, "://"); is {
		rest, _, _ = strings.Cut(rest, "/")
		return fault(fmt.Sprintf("a domain has no %s://, and no path: write %.80q", scheme, rest))
	}
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.HasSuffix(text, "]") {
		port, err := strconv.ParseUint(text[i+1:], 10, 16)
		if err != nil || port == 0 {
			return fault(fmt.Sprintf("invalid port %.10q: want 1 to 65535", text[i+1:]))
		}
		host, p.port = text[:i], uint16(port)
	}
	if host == "*" {
		return p, nil
	}
	if rest, deep := strings.CutPrefix(host, "*."); deep {
		host, p.deep = rest, true
	}
	if p.host, err = parseHost(host); err != nil {
		return fault(err.Error())
	}
	return p, nil
}

// target is the host and port that a URL names.
type target struct {
	host string
	port uint16 // 0: the scheme's own
}

func hostOf(u *url.URL) (t target, err error) {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		host = "[" + host + "]"
	}
	if t.host, err = parseHost(host); err != nil {
		return t, fmt.Errorf("the URL's host: %w", err)
	}
	if text := u.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return t, fmt.Errorf("invalid port %.10q in the URL", text)
		}
		if t.port = uint16(port); t.port == map[string]uint16{"http": 80, "https": 443}[u.Scheme] {
			t.port = 0
		}
	}
	return t, nil
}

// parseHost reads a name in lower case, without a dot at its end, or an address in
// the one way to write it.
func parseHost(host string) (string, error) {
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		ip, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", fmt.Errorf("invalid IPv6 address")
		}
		return ip.Unmap().String(), nil
	}
	host = strings.ToLower(host)
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		return host, nil
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, letters) != "" {
			return "", fmt.Errorf("invalid host name %.40q", host)
		}
	}
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' || len(host) > 253 {
		return "", fmt.Errorf("invalid host name %.40q", host) // 127.1 and 0x7f.1 are addresses to some
	}
	return host, nil
}

func (p place) coversTarget(t target, scheme string) bool {
	own := map[string]uint16{"http": 80, "https": 443}[scheme]
	if p.port != t.port && (t.port != 0 || p.port != own) {
		return false
	}
	if _, err := netip.ParseAddr(t.host); err == nil {
		return t.host == p.host && !p.deep // a wildcard does not cover addresses
	}
	return p.host == "" || p.deep && strings.HasSuffix(t.host, "."+p.host) || !p.deep && t.host == p.host
}
