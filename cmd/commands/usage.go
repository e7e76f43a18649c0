package commands

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/alecthomas/kingpin/v2"
)

// flagSet declares flags: the program's own, or those under a heading of its help.
type flagSet interface {
	Flag(name, help string) *kingpin.FlagClause
}

// Headings of the help, over flags of the operator.
const (
	webFlags       = "Web server flags"
	apiServerFlags = "API server flags"
	scopeFlags     = "Scope flags"
	objectFlags    = "Generated object flags"
	electionFlags  = "Leader election flags"
	kubeletHeading = "Kubelet Service flags"
	ignoredFlags   = "Ignored flags"
)

// headings are what flags stand under in the help, in the order of the first flag of
// each. Flags of commands and of the process have none.
type headings struct {
	titles []string
	of     map[string]string // by the name of the flag
}

// heading declares flags under a title.
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

// nameFlags makes errors about values name their flag, which the parser leaves out:
// "--workers=many: want a number".
func nameFlags(app *kingpin.Application) {
	name := func(all []*kingpin.FlagModel, flag func(string) *kingpin.FlagClause) {
		for _, f := range all {
			// The help quotes strings by the type of their value, which changes here.
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

// namedValue is the value of a flag whose errors name the flag.
type namedValue struct {
	kingpin.Value
	flag string
}

// Set implements kingpin.Value.
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

// plainNumber words the errors of numbers for people.
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
