package options

import (
	"strconv"
	"strings"

	"github.com/alecthomas/kingpin/v2"
)

// GoStyle rewrites args in the syntax of Go's flag package to that of kingpin:
// single-dash long names, values that begin with a dash, booleans such as =0, and repeated
// flags, of which the last one wins.
func GoStyle(app *kingpin.Application, args []string) []string {
	flags := map[string]*kingpin.FlagModel{}
	for _, f := range app.Model().Flags {
		flags[f.Name] = f
	}
	var out []string
	last := map[string]int{} // index in out of each flag that cannot be repeated
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		name, val, hasVal := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-"), "=")
		f, known := flags[name]
		switch {
		case args[i] == "-h", args[i] == "--h":
			out = append(out, "--help")
			continue
		case !strings.HasPrefix(args[i], "-") || args[i] == "-":
			out = append(out, args[i])
			continue
		case !known: // with two dashes, so that the error has the whole name
			out = append(out, "--"+strings.TrimLeft(args[i], "-"))
			continue
		}
		if !hasVal && !f.IsBoolFlag() && i+1 < len(args) {
			i++
			val, hasVal = args[i], true
		}
		arg := "--" + name
		on, err := strconv.ParseBool(val)
		switch {
		case hasVal && f.IsBoolFlag() && err == nil && !on:
			arg = "--no-" + name
		case hasVal && !(f.IsBoolFlag() && err == nil):
			arg += "=" + val
		}
		if at, twice := last[name]; twice && !cumulative(f) {
			out[at] = arg
			continue
		}
		last[name] = len(out)
		out = append(out, arg)
	}
	return out
}

func cumulative(f *kingpin.FlagModel) bool {
	c, ok := f.Value.(interface{ IsCumulative() bool })
	return ok && c.IsCumulative()
}
