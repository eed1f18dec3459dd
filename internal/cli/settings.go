package cli

import (
	"cmp"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"pdpp"
	"pdpp/internal/store/open"
)

// fromEnvironment resolves flags that are not on the command line from the environment.
// The tag "var" of a flag names its variable. An empty variable counts as unset.
func fromEnvironment(getenv func(string) string) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
		name := f.Tag.Get("var")
		if name == "" {
			return nil, nil
		}
		if value := getenv(name); value != "" {
			return value, nil
		}
		return nil, nil
	})
}

// showVariable adds the variable of a flag to its help.
func showVariable(v *kong.Value) string {
	name := v.Tag.Get("var")
	if name == "" {
		return v.Help
	}
	if text, ok := strings.CutSuffix(v.Help, ")."); ok {
		return text + ", $" + name + ")."
	}
	return strings.TrimSuffix(v.Help, ".") + " ($" + name + ")."
}

// dataFolder returns the folder of H-7: that of --data, else of PDPP_DATA_DIR, else the
// platform's.
func (a *app) dataFolder() (string, error) {
	if location := cmp.Or(a.Data, a.Getenv("PDPP_DATA_DIR")); location != "" {
		return open.Folder(location)
	}
	return platformFolder(runtime.GOOS, a.Getenv, "pdpp")
}

// platformFolder returns the folder in which a platform keeps the data of a user's program.
func platformFolder(goos string, getenv func(string) string, name string) (string, error) {
	var base string
	switch goos {
	case "windows":
		base = getenv("LocalAppData")
	case "darwin", "ios":
		base = under(getenv("HOME"), "Library", "Application Support")
	default:
		// The XDG specification says to ignore a relative folder.
		if base = getenv("XDG_DATA_HOME"); !filepath.IsAbs(base) {
			base = under(getenv("HOME"), ".local", "share")
		}
	}
	if base == "" {
		return "", &pdpp.Error{
			Code: pdpp.CodeNotConfigured, Message: "There is no data folder: the home folder is unknown.",
			Hint: "Name a folder with --data DIR.",
		}
	}
	return filepath.Join(base, name), nil
}

func under(home string, parts ...string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(append([]string{home}, parts...)...)
}

const day = 24 * time.Hour

// maxTTL is the longest lifetime of a token that a command creates (H-15, H-24).
const maxTTL = 365 * day

// lifetime parses the duration of a flag (H-10), at most maxTTL. It returns fallback for
// "". It checks the number before the multiplication, which may overflow.
func lifetime(flag, s string, fallback time.Duration) (time.Duration, error) {
	if s == "" {
		return fallback, nil
	}
	d, ok := pdpp.ParseDuration(s)
	if !ok {
		return 0, pdpp.Errorf(pdpp.CodeUsage, "%s does not accept %q: write a duration such as 90s, 15m, 12h or 30d.", flag, s)
	}
	count, err := strconv.ParseInt(s[:len(s)-1], 10, 64)
	unit, _ := pdpp.ParseDuration("1" + s[len(s)-1:])
	if err != nil || count > int64(maxTTL/unit) {
		return 0, pdpp.Errorf(pdpp.CodeUsage, "%s does not accept %q: the longest lifetime is 365d.", flag, s)
	}
	return d, nil
}
