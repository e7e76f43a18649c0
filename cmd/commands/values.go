package commands

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// csv is a flag with a comma-separated list of names. A repeated flag adds to the list.
type csv struct{ names *[]string }

func (c csv) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		*c.names = append(*c.names, strings.TrimSpace(name))
	}
	return nil
}

func (c csv) String() string {
	if c.names == nil {
		return ""
	}
	return strings.Join(*c.names, ",")
}

// IsCumulative reports that the flag may be repeated.
func (c csv) IsCumulative() bool { return true }

// csvMap is a flag with a comma-separated list of key=value pairs. A repeated flag adds
// to the map.
type csvMap struct{ pairs *map[string]string }

func (c csvMap) Set(text string) error {
	if *c.pairs == nil {
		*c.pairs = map[string]string{}
	}
	for pair := range strings.SplitSeq(text, ",") {
		if pair == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		if !ok || strings.TrimSpace(key) == "" {
			return fmt.Errorf("%q is not of the form key=value", pair)
		}
		(*c.pairs)[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return nil
}

func (c csvMap) String() string {
	if c.pairs == nil {
		return ""
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(*c.pairs)) {
		out = append(out, k+"="+(*c.pairs)[k])
	}
	return strings.Join(out, ",")
}

// IsCumulative reports that the flag may be repeated.
func (c csvMap) IsCumulative() bool { return true }

// plain is an alias of a string flag, without a default.
type plain struct{ text *string }

func (p plain) Set(text string) error { *p.text = text; return nil }

func (p plain) String() string { return "" }

func oneOf(values ...string) func(string) error {
	return func(text string) error {
		for _, v := range values {
			if v == text {
				return nil
			}
		}
		return fmt.Errorf("want one of %s, got %q", strings.Join(values, ", "), text)
	}
}
