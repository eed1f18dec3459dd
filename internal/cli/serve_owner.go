package cli

import (
	"context"
	"net"
	"net/netip"

	"pdpp/internal/httpx"
	"pdpp/internal/signin"
	"pdpp/internal/store"
)

// setFirstPassword sets the password of --owner-password-file for an owner who cannot sign
// in yet. The file is not read for an owner who can.
func (c *serveCommand) setFirstPassword(ctx context.Context, a *app, in opened, s *signin.Service) error {
	if c.OwnerPasswordFile == "" {
		return nil
	}
	owner, err := a.findOwner(ctx, in.store, a.Owner)
	if err != nil {
		return err
	}
	can, err := s.CanSignIn(ctx, owner.ID)
	if err != nil || can {
		return err
	}
	password, err := readPasswordFile(c.OwnerPasswordFile)
	if err != nil {
		return err
	}
	_, err = s.SetFirstPassword(ctx, owner.ID, password)
	return err
}

// firstRuns returns a fact for each owner who cannot sign in yet: the link with which that
// owner sets a password (H-13).
func firstRuns(ctx context.Context, st store.Store, s *signin.Service, base string) (links [][2]string, err error) {
	owners, err := signin.FirstRunOwners(ctx, st)
	if err != nil {
		return nil, err
	}
	for _, o := range owners {
		code, err := s.NewLink(ctx, o.ID, signin.LinkFirstRun, signin.FirstRunLife)
		if err != nil {
			return nil, err
		}
		links = append(links, [2]string{"first sign-in of " + plain(o.Name), base + "/owner/first-run?code=" + code})
	}
	return links, nil
}

// reachable returns the origin at which a browser on this machine reaches the server: R
// when it is fixed, otherwise the address of the listener.
func reachable(public httpx.Origin, scheme string, addr net.Addr) string {
	if !public.IsZero() {
		return public.String()
	}
	at, err := netip.ParseAddrPort(addr.String())
	if err == nil && at.Addr().IsUnspecified() {
		_, port, _ := net.SplitHostPort(addr.String()) // it was parsed above
		return scheme + "://" + net.JoinHostPort("localhost", port)
	}
	return scheme + "://" + addr.String()
}
