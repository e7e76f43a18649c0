package commands

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/alecthomas/kingpin/v2"
)

// flagSet declares flags: those of the program, or those below a heading of its help.
type flagSet interface {
	Flag(name, help string) *kingpin.FlagClause
}

// Headings of the help for flags of the operator.
const (
	webFlags       = "Web server flags"
	apiServerFlags = "API server flags"
	scopeFlags     = "Scope flags"
	objectFlags    = "Generated object flags"
	electionFlags  = "Leader election flags"
	kubeletHeading = "Kubelet Service flags"
	ignoredFlags   = "Ignored flags"
)

// headings are the headings of flags in the help, in the order of their first flag. Flags
// of commands and of the process have none.
type headings struct {
	titles []string
	of     map[string]string // title by flag name
}

// heading declares flags below a title.
type heading struct {
	*headings
	app   *kingpin.Application
	title string
}

func (h *headings) under(title string, app *kingpin.Application) heading {
	h.titles = append(h.titles, title)
	return heading{h, app, title}
}

// Flag implements flagSet.
func (h heading) Flag(name, help string) *kingpin.FlagClause {
	h.of[name] = h.title
	return h.app.Flag(name, help)
}

// nameFlags adds the name of the flag to errors about its value, which the parser omits:
// "--workers=many: want a number".
func nameFlags(app *kingpin.Application) {
	name := func(all []*kingpin.FlagModel, flag func(string) *kingpin.FlagClause) {
		for _, f := range all {
			// The help quotes strings depending on the type of the value, which changes
			// here.
			flag(f.Name).PlaceHolder(f.FormatPlaceHolder()).SetValue(namedValue{f.Value, f.Name})
		}
	}
	name(app.Model().Flags, app.GetFlag)
	for _, c := range app.Model().Commands {
		name(c.Flags, app.GetCommand(c.Name).GetFlag)
		for _, sub := range c.Commands {
			name(sub.Flags, app.GetCommand(c.Name).GetCommand(sub.Name).GetFlag)
		}
	}
}

// namedValue is the value of a flag with errors that name the flag.
type namedValue struct {
	kingpin.Value
	flag string
}

// Set implements [kingpin.Value].
func (v namedValue) Set(text string) error {
	if err := v.Value.Set(text); err != nil {
		return fmt.Errorf("--%s=%s: %w", v.flag, text, plainNumber(err))
	}
	return nil
}

// IsBoolFlag reports whether the flag takes no value.
func (v namedValue) IsBoolFlag() bool {
	is, ok := v.Value.(interface{ IsBoolFlag() bool })
	return ok && is.IsBoolFlag()
}

// IsCumulative reports whether the flag may be repeated.
func (v namedValue) IsCumulative() bool {
	is, ok := v.Value.(interface{ IsCumulative() bool })
	return ok && is.IsCumulative()
}

// plainNumber makes errors about numbers human-readable.
func plainNumber(err error) error {
	number, ok := errors.AsType[*strconv.NumError](err)
	switch {
	case !ok:
		return err
	case errors.Is(number.Err, strconv.ErrRange):
		return errors.New("out of range")
	}
	return errors.New("want a number")
}
