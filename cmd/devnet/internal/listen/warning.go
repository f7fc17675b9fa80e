package listen

import (
	"fmt"
	"net"
	"strings"
)

// WarnOfExposure warns of an API that other machines can reach; "": none can, or the network is strict.
func WarnOfExposure(bound string, strict bool) string {
	host, _, err := net.SplitHostPort(bound)
	ip := net.ParseIP(host)
	if strict || err != nil || ip == nil || ip.IsLoopback() {
		return ""
	}
	return fmt.Sprintf("Warning: other machines can reach the API at %s. A caller signs for the named accounts and injects faults.", bound)
}

// DescribeOrigins says what pages of other origins may do; "": there are none that may.
func DescribeOrigins(origins []string, strict bool) string {
	if len(origins) == 0 {
		return ""
	}
	pages := "Pages of " + strings.Join(origins, ", ")
	if strict {
		return pages + " may read the API and submit signed transactions."
	}
	return "Warning: " + pages + " may call the API. Such a page signs for the named accounts and injects faults."
}
