package outbound

import "net/netip"

// global is where the public addresses of both families are (RFC 4291 §2.4, IANA's
// registry), and special what is kept for something else within.
var (
	global  = parsePrefixes("0.0.0.0/0", "2000::/3")
	special = parsePrefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
		"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
		"168.63.129.16/32",                                     // a cloud's host answers there to its guests
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", // some hold an IPv4 address, which would not be judged
	)
)

func parsePrefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// isPublic reports whether an address, IPv4 not mapped, is anybody's on the Internet:
// no machine's own, no local network's, none that a cloud answers with secrets at.
func isPublic(ip netip.Addr) bool {
	return ip.Zone() == "" && isWithin(global, ip) && !isWithin(special, ip)
}

func isWithin(prefixes []netip.Prefix, ip netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
