package golden

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v2"
)

// Lines formats one item per line.
func Lines[T any](items []T) []byte {
	var out bytes.Buffer
	for _, item := range items {
		fmt.Fprintln(&out, item)
	}
	return out.Bytes()
}

// CutVersion splits a name below want/ after the version for which a document is
// rendered: "2.48.1.dropped" and "2.48.1/global.scrape_interval".
func CutVersion(name string) (version, part string) {
	if version, part, ok := strings.Cut(name, "/"); ok {
		return version, part
	}
	i := strings.LastIndexByte(name, '.')
	return name[:i], name[i+1:]
}

// PartOf returns the value at a dotted path of a YAML document as a YAML document, or
// "absent" if there is none.
//
// path: keys and indices, "remote_write.0.queue_config".
//
// Errors: the document is not valid YAML.
func PartOf(text []byte, path string) ([]byte, error) {
	var doc yaml.MapSlice
	if err := yaml.UnmarshalStrict(text, &doc); err != nil {
		return nil, err
	}
	var v any = doc
	for key := range strings.SplitSeq(path, ".") {
		v = Child(v, key)
	}
	if v == nil {
		return []byte("absent\n"), nil
	}
	return yaml.Marshal(v)
}

// Child returns the value of a key of a yaml.MapSlice, or of an index of a list. It
// returns nil if there is none.
func Child(v any, key string) any {
	switch v := v.(type) {
	case yaml.MapSlice:
		for _, item := range v {
			if item.Key == key {
				return item.Value
			}
		}
	case []any:
		var i int
		if _, err := fmt.Sscan(key, &i); err == nil && i < len(v) {
			return v[i]
		}
	}
	return nil
}
