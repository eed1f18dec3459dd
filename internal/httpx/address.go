package httpx

import (
	"context"
	"net/netip"
)

type addressKey struct{}

// WithAddress returns the context of a request that changes rights, with the address of
// its client for the audit row (H-197).
func WithAddress(ctx context.Context, addr netip.Addr) context.Context {
	return context.WithValue(ctx, addressKey{}, addr)
}

// AddressOf returns the address that WithAddress set, or "".
func AddressOf(ctx context.Context) string {
	if addr, ok := ctx.Value(addressKey{}).(netip.Addr); ok {
		return addr.String()
	}
	return ""
}
