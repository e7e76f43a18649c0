package amconfig

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// texts are errors of the loader about a value that they do not quote, or that is hidden in them.
var texts = []struct {
	says, path *lazyregexp.Regexp
	valid      *lazyregexp.Regexp // matches the values that are right
	want       string
}{
	{lazyregexp.New(`missing port in address`), lazyregexp.New(`(?:^|[._])smarthost$`), lazyregexp.New(`:[^:\]]+$`), "want host:port, such as smtp.example.com:587"},
	{lazyregexp.New(`couldn't parse timestamp`), lazyregexp.New(`times\[\d+\]\.(?:start|end)_time$`), lazyregexp.New(`^\d\d:\d\d$`), "want hours and minutes of two digits each, such as 06:00"},
	{lazyregexp.New(`unsupported scheme "|missing host for URL`), urlPaths, lazyregexp.New(`^https?://[^/]|\{\{`), "want a URL that begins with http:// or https:// and has a host"},
}

var (
	// urlPaths matches the paths of the URLs that the loader checks. Other fields with such a name are texts.
	urlPaths = lazyregexp.New(`^global\.\w+_url$|^receivers\[\d+\]\.(?:\w+_configs\[\d+\]\.(?:api_url|webhook_url)|(?:webhook|pagerduty|incidentio)_configs\[\d+\]\.url)$`)
	// variable matches a variable of a shell.
	variable = lazyregexp.New(`\$\{?[A-Za-z_]`)
)

// unquoted returns the errors with line and path of the values that an error of the loader is about; nil if they are not found.
func unquoted(root *yaml.Node, reason string) (out []error) {
	for _, t := range texts {
		if !t.says.MatchString(reason) {
			continue
		}
		for n := range scalars(root) {
			if len(out) < faults.Most && t.path.MatchString(n.Path) && !t.valid.MatchString(n.Value) && n.Value != "" && !strings.Contains(n.Value, "$(") {
				want := t.want
				if variable.MatchString(n.Value) {
					want += "; Alertmanager replaces no variables: write the value, or the path of a file with it in the field that ends in _file"
				}
				out = append(out, fmt.Errorf("line %d: %s: %s", n.Line, n.Path, want))
			}
		}
	}
	return out
}
