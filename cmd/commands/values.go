package commands

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// csv is a flag of comma separated names; repeating it adds.
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

// IsCumulative lets the flag be repeated.
func (c csv) IsCumulative() bool { return true }

// csvMap is a flag of comma separated key=value pairs; repeating it adds.
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

// IsCumulative lets the flag be repeated.
func (c csvMap) IsCumulative() bool { return true }

// plain is a second name of a string flag: it has no default of its own.
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
