package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"github.com/alecthomas/kingpin/v2"
)

// groups are the headings of the operator's flags in its help, and what names of
// flags under them begin with; the first that fits counts.
var groups = []struct {
	title    string
	prefixes []string
}{
	{"Web server flags", []string{"web."}},
	{"API server flags", []string{"kubeconfig", "apiserver", "cert-file", "key-file", "ca-file", "tls-insecure", "as", "kube-api-"}},
	{"Scope flags", []string{"namespaces", "deny-", "prometheus-instance-", "secret-", "configmap-", "watch-", "controller-id", "manage-crds"}},
	{"Generated object flags", []string{"labels", "annotations", "prometheus-", "config-reloader-", "rules-reloader-", "enable-config-reloader",
		"reloader-layout", "thanos-default", "localhost", "cluster-domain", "disable-unmanaged", "instant-delivery"}},
	{"Ignored flags", nil}, // by their text
}

// flagGroup are the flags under one heading.
type flagGroup struct {
	Title string
	Flags []*kingpin.FlagModel
}

const idleHelp = "Accepted for compatibility; has no effect"

// grouped puts flags under headings; flags of commands and of the process come first.
func grouped(flags []*kingpin.FlagModel) []flagGroup {
	out := []flagGroup{{Title: "Flags"}}
	for _, g := range groups {
		out = append(out, flagGroup{Title: g.title})
	}
	for _, f := range flags {
		at := 0
		for i, g := range groups {
			idle := g.prefixes == nil && strings.HasPrefix(f.Help, idleHelp)
			if at == 0 && (idle || !strings.HasPrefix(f.Help, idleHelp) && begins(f.Name, g.prefixes)) {
				at = i + 1
			}
		}
		out[at].Flags = append(out[at].Flags, f)
	}
	return out
}

func begins(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if name == p || strings.HasPrefix(name, p) && (strings.HasSuffix(p, "-") || strings.HasSuffix(p, ".") || len(p) > 8) {
			return true
		}
	}
	return false
}

// groupUsage shows the flags of the operator under headings.
func groupUsage(app *kingpin.Application) {
	const flat = `{{if .Context.Flags -}}
Flags:
{{.Context.Flags|FlagsToTwoColumns|FormatTwoColumns}}
{{end -}}`
	const byGroup = `{{range .Context.Flags|Grouped}}{{if .Flags -}}
{{.Title}}:
{{.Flags|FlagsToTwoColumns|FormatTwoColumns}}
{{end}}{{end -}}`
	app.UsageFuncs(template.FuncMap{"Grouped": grouped})
	app.UsageTemplate(strings.Replace(kingpin.DefaultUsageTemplate, flat, byGroup, 1))
}

// named adds the flag to an error about its value, which the parser leaves out.
func named(app *kingpin.Application, command string, args []string, err error) error {
	if err == nil {
		return nil
	}
	flags := app.Model().Flags
	for _, c := range app.Model().FlattenedCommands() {
		if c.FullCommand == command || command == "" {
			flags = append(flags, c.Flags...)
		}
	}
	for i, arg := range args {
		name, value, assigned := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !strings.HasPrefix(arg, "--") {
			continue
		}
		if !assigned && i+1 < len(args) {
			value = args[i+1]
		}
		for _, f := range flags {
			if f.Name != name || f.IsBoolFlag() {
				continue
			}
			if again := f.Value.Set(value); again != nil && again.Error() == err.Error() {
				return fmt.Errorf("--%s=%s: %w", name, value, plainNumber(again))
			}
		}
	}
	return err
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
