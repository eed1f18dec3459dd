//go:build !windows && (!unix || solaris || aix)

package instance

import "os"

// lock does nothing: there is no portable call on these systems. The store
// itself stays consistent with two servers; only their limits are counted apart.
func lock(*os.File) error { return nil }

func syncFolder(string) error { return nil }
