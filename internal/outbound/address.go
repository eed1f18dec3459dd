package outbound

import "net/netip"

var (
	// global is the only block from which IPv6 addresses are assigned to hosts.
	global = netip.MustParsePrefix("2000::/3")

	// nat64 contains IPv4 addresses in the last four bytes (RFC 6052).
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

// special are the blocks that are not for public hosts: those of the IANA registries of
// special-purpose addresses, and one of a cloud provider.
var special = prefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // the platform service of Azure, which only its machines reach
	"169.254.0.0/16",   // link-local; metadata services of cloud providers
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarking
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, broadcast

	"2001::/23",     // protocol assignments: Teredo, benchmarking, ORCHID
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4
	"3fff::/20",     // documentation
)

func prefixes(blocks ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(blocks))
	for i, block := range blocks {
		out[i] = netip.MustParsePrefix(block)
	}
	return out
}

// isPublic reports whether an address is that of a host on the public internet. An IPv4
// address inside an IPv6 address counts as the IPv4 address.
func isPublic(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		bytes := addr.As16()
		addr = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	if addr.Is6() && !global.Contains(addr) {
		return false
	}
	for _, block := range special {
		if block.Contains(addr) {
			return false
		}
	}
	return true
}
