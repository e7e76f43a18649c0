package workload

import (
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Arg is one command-line argument: "--name=value", or "--name" if the value is empty. A
// name that ends in "=" keeps the sign with an empty value: "--name=".
type Arg struct{ Name, Value string }

// String returns the argument as passed to the program.
func (a Arg) String() string {
	if a.Value == "" {
		return "--" + a.Name
	}
	return "--" + a.Name + "=" + a.Value
}

// Render converts arguments to the args of a container.
func Render(args []Arg) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a.String()
	}
	return out
}

// Row is one row of an argument table. In is the input of the table. The order of the
// rows is the order of the arguments, which is significant: another order changes the pod
// template.
type Row[In any] struct {
	Name string
	In   Versions
	// Field is reported if the version is too old for the user's setting. It is empty if
	// the argument is not a user setting, or an older version supports it in another way.
	// A version that is too new is never reported, because the setting has then moved
	// elsewhere.
	Field string
	// Empty means that an empty value is written as "--name=". Without "=", the program
	// would parse the next argument as the value.
	Empty bool
	// Value returns false if the argument is not wanted.
	Value func(In) (string, bool)
	// Each replaces Value for an argument that can be repeated. Empty values are skipped,
	// because the program would parse the next argument as the value.
	Each func(In) []string
}

// values returns the values for which the row produces an argument.
func (r Row[In]) values(in In) []string {
	if r.Each != nil {
		return slices.DeleteFunc(slices.Clone(r.Each(in)), func(s string) bool { return s == "" })
	}
	if value, wanted := r.Value(in); wanted {
		return []string{value}
	}
	return nil
}

// Fill evaluates a table. It returns the wanted arguments that version v supports, and
// the fields for which v is too old.
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

// Common conditions of rows.

// Always produces the argument for every object.
func Always[In any](value string) func(In) (string, bool) {
	return func(In) (string, bool) { return value, true }
}

// FlagIf produces an argument without a value.
func FlagIf[In any](wanted func(In) bool) func(In) (string, bool) {
	return func(in In) (string, bool) { return "", wanted(in) }
}

// NonEmpty produces the argument if the value is not empty.
func NonEmpty[In any, S ~string](get func(In) S) func(In) (string, bool) {
	return func(in In) (string, bool) {
		s := string(get(in))
		return s, s != ""
	}
}

// DurationFlag produces the argument for a duration. Flags do not support years, which
// durations of objects may have.
func DurationFlag[In any](get func(In) v1.Duration) func(In) (string, bool) {
	return func(in In) (string, bool) {
		text := string(get(in))
		if !strings.Contains(text, "y") {
			return text, text != ""
		}
		d, err := model.ParseDuration(text)
		if err != nil {
			return text, true // a Check reports the error
		}
		return time.Duration(d).String(), true
	}
}

// UnlessDefault is like NonEmpty for log level and format, which are omitted if they equal the default.
func UnlessDefault[In any](get func(In) string, normal string) func(In) (string, bool) {
	return func(in In) (string, bool) {
		s := get(in)
		return s, s != "" && s != normal
	}
}

// AppendUser appends the user's arguments to ours.
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

// CheckUser rejects user arguments, with or without "no-", that the operator sets. The
// error lists all of them as the operator spells them.
func CheckUser(field string, ours []Arg, user []v1.Argument) error {
	var taken []string
	for _, own := range ours {
		name := strings.TrimSuffix(own.Name, "=")
		clash := slices.ContainsFunc(user, func(u v1.Argument) bool {
			flag, _ := u.Flag()
			return flag == name || flag == "no-"+name || name == "no-"+flag
		})
		if clash && !slices.Contains(taken, name) {
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		return faults.At(field, &TakenError{taken})
	}
	return nil
}

// TakenError is the error for arguments of a user that the operator sets.
type TakenError struct{ Names []string }

// Error implements error.
func (e *TakenError) Error() string {
	return "already managed by the operator: " + strings.Join(e.Names, ",")
}
