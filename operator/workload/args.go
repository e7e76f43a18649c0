package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Arg is one command-line argument: "--name=value", or "--name" when the value
// is empty. A name that ends in "=" has an empty value that is written: "--name=".
type Arg struct{ Name, Value string }

// String is the argument as the program reads it.
func (a Arg) String() string {
	if a.Value == "" {
		return "--" + a.Name
	}
	return "--" + a.Name + "=" + a.Value
}

// Render turns arguments into a container's args.
func Render(args []Arg) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a.String()
	}
	return out
}

// Row is one line of an argument table. In is what the table decides from.
// The order of the rows is the order of the arguments, and it matters: a
// different order is a different pod.
type Row[In any] struct {
	Name string
	In   Versions
	// Field is reported when the version is too old for what the user asked. It
	// is empty where nobody asked, or where an older version has another way.
	// Being too new is never reported: then the setting has moved elsewhere.
	Field string
	// Empty says that an empty value is written too, as "--name=": without "=" the
	// program would take the next argument for the value.
	Empty bool
	// Value returns false when the argument is not wanted.
	Value func(In) (string, bool)
	// Each takes the place of Value for an argument that may be repeated. Empty
	// values are left out: the flag would take the next argument for its value.
	Each func(In) []string
}

// values are those that the row wants an argument for.
func (r Row[In]) values(in In) []string {
	if r.Each != nil {
		return slices.DeleteFunc(slices.Clone(r.Each(in)), func(s string) bool { return s == "" })
	}
	if value, wanted := r.Value(in); wanted {
		return []string{value}
	}
	return nil
}

// Fill walks a table: the arguments that are wanted and that version v knows, and the
// fields it is too old for.
func Fill[In any](rows []Row[In], v *semver.Version, in In) (args []Arg, dropped []gate.Dropped) {
	for _, row := range rows {
		values := row.values(in)
		switch {
		case len(values) == 0:
		case row.In.Has(v):
			for _, value := range values {
				name := row.Name
				if row.Empty && value == "" {
					name += "="
				}
				args = append(args, Arg{name, value})
			}
		case row.In.before(v) && row.Field != "":
			dropped = append(dropped, gate.Dropped{Path: row.Field, Need: ">= " + row.In.Since})
		}
	}
	return args, dropped
}

// The usual conditions of a row.

// Always is wanted whatever the object says.
func Always[In any](value string) func(In) (string, bool) {
	return func(In) (string, bool) { return value, true }
}

// FlagIf is an argument without a value.
func FlagIf[In any](wanted func(In) bool) func(In) (string, bool) {
	return func(in In) (string, bool) { return "", wanted(in) }
}

// NonEmpty is wanted when there is a value.
func NonEmpty[In any, S ~string](get func(In) S) func(In) (string, bool) {
	return func(in In) (string, bool) {
		s := string(get(in))
		return s, s != ""
	}
}

// UnlessDefault is NonEmpty for log level and format, which are left out when
// they say what the program does anyway.
func UnlessDefault[In any](get func(In) string, normal string) func(In) (string, bool) {
	return func(in In) (string, bool) {
		s := get(in)
		return s, s != "" && s != normal
	}
}

// AppendUser adds the user's arguments behind ours.
//
// Errors: those of CheckUser.
func AppendUser(field string, ours []Arg, user []v1.Argument) ([]Arg, error) {
	if err := CheckUser(field, ours, user); err != nil {
		return nil, err
	}
	for _, u := range user {
		ours = append(ours, Arg{u.Name, u.Value})
	}
	return ours, nil
}

// CheckUser refuses arguments of the user, with or without "no-", that the operator
// sets. The error names all of those as the operator spells them.
func CheckUser(field string, ours []Arg, user []v1.Argument) error {
	var taken []string
	for _, own := range ours {
		name := strings.TrimSuffix(own.Name, "=")
		clash := slices.ContainsFunc(user, func(u v1.Argument) bool {
			return u.Name == name || u.Name == "no-"+name || name == "no-"+u.Name
		})
		if clash && !slices.Contains(taken, name) {
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		return fmt.Errorf("%s: already managed by the operator: %s", field, strings.Join(taken, ","))
	}
	return nil
}
