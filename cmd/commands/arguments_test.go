package commands

import (
	"slices"
	"testing"

	"github.com/alecthomas/kingpin/v2"
)

func TestArguments(t *testing.T) {
	for name, tc := range map[string]struct{ in, want []string }{
		"as they are":              {[]string{"--manage-crds", "--workers=2", "crds", "-h"}, []string{"--manage-crds", "--workers=2", "crds", "-h"}},
		"one dash":                 {[]string{"-log-level=debug"}, []string{"--log-level=debug"}},
		"a switch with a value":    {[]string{"--manage-crds=true", "-instant-delivery=false"}, []string{"--manage-crds", "--no-instant-delivery"}},
		"other spellings of it":    {[]string{"--manage-crds=1", "--manage-crds=F"}, []string{"--manage-crds", "--no-manage-crds"}},
		"a switch of a command":    {[]string{"crds", "--full=true"}, []string{"crds", "--full"}},
		"a value that is no truth": {[]string{"--manage-crds=maybe"}, []string{"--manage-crds=maybe"}},
		"no version and no help":   {[]string{"--version=false", "--no-help", "-help=false", "--no-version", "--workers=2"}, []string{"--workers=2"}},
		"text that looks like one": {[]string{"--workers=1", "--as=true", "x=true"}, []string{"--workers=1", "--as=true", "x=true"}},
	} {
		t.Run(name, func(t *testing.T) {
			var o Options
			app := kingpin.New("operator", "")
			o.Bind(app)
			declare(app, subcommands(&o))
			if got := arguments(app, tc.in); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
