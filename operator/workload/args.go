package workload

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

// arg is one command-line argument: "--name=value", or "--name" when the value
// is empty.
type arg struct{ name, value string }

// String is the argument as the program reads it.
func (a arg) String() string {
	if a.value == "" {
		return "--" + a.name
	}
	return "--" + a.name + "=" + a.value
}

// render turns arguments into a container's args.
func render(args []arg) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a.String()
	}
	return out
}

// argRow is one line of an argument table. In is what the table decides from.
// The order of the rows is the order of the arguments, and it matters: a
// different order is a different pod.
type argRow[In any] struct {
	name string
	in   versions
	// field is reported when the version is too old for what the user asked. It
	// is empty where nobody asked, or where an older version has another way.
	// Being too new is never reported: then the setting has moved elsewhere.
	field string
	// value returns false when the argument is not wanted.
	value func(In) (string, bool)
}

// fill walks a table.
func fill[In any](rows []argRow[In], v *semver.Version, in In) (args []arg, dropped []gate.Dropped) {
	for _, row := range rows {
		value, wanted := row.value(in)
		switch {
		case !wanted:
		case row.in.has(v):
			args = append(args, arg{row.name, value})
		case row.in.before(v) && row.field != "":
			dropped = append(dropped, gate.Dropped{Path: row.field, Need: ">= " + row.in.since})
		}
	}
	return args, dropped
}

// The usual conditions of a row.

func always[In any](value string) func(In) (string, bool) {
	return func(In) (string, bool) { return value, true }
}

func flagIf[In any](wanted func(In) bool) func(In) (string, bool) {
	return func(in In) (string, bool) { return "", wanted(in) }
}

func nonEmpty[In any, S ~string](get func(In) S) func(In) (string, bool) {
	return func(in In) (string, bool) {
		s := string(get(in))
		return s, s != ""
	}
}

// unlessDefault is nonEmpty for log level and format, which are left out when
// they say what the program does anyway.
func unlessDefault[In any](get func(In) string, normal string) func(In) (string, bool) {
	return func(in In) (string, bool) {
		s := get(in)
		return s, s != "" && s != normal
	}
}

// appendUser adds the user's arguments behind ours.
//
// Errors: an argument, with or without "no-", is one that the operator sets;
// all of those are named as the operator spells them.
func appendUser(field string, ours, user []arg) ([]arg, error) {
	var taken []string
	for _, own := range ours {
		for _, u := range user {
			if u.name == own.name || u.name == "no-"+own.name || own.name == "no-"+u.name {
				taken = append(taken, own.name)
				break
			}
		}
	}
	if len(taken) > 0 {
		return nil, fmt.Errorf("%s: already managed by the operator: %s", field, strings.Join(taken, ","))
	}
	return append(ours, user...), nil
}
