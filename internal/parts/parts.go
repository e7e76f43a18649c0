// Package parts defines the list of the parts of a configuration that is too large for
// one Secret. The operator writes it, config-reloader reads it.
//
//	Secret k8s                 prometheus.yaml.gz   the beginning of the gzip stream
//	                           config-end.gz        its last bytes
//	                           parts.json           the list
//	Secret k8s-config-part-1   config-1.gz          the bytes in between
//	Secret k8s-config-part-3   config-3.gz
//	Secret k8s-config-part-16  rules-16.tar.gz      rule files, a separate gzip stream
//
// All keys are mounted into one folder. The list has the files of each stream in order,
// with their SHA-256 sums. A reader that finds other content sees a state between two
// updates and waits. Files that are not in the list belong to the previous or next
// version, and are ignored.
//
// A reader ignores unknown fields of the list, and rejects a list whose version is higher
// than [Version].
package parts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// ListName is the key of the list, in the Secret of the configuration.
const ListName = "parts.json"

// Version is the version of the lists that this package writes and the highest that it
// reads. It is increased only if older readers would misinterpret a list.
const Version = 1

// Limits of a list. Parse rejects more.
const (
	MaxList  = 64 << 10 // bytes of the list
	maxFiles = 64       // in one stream
	MaxFile  = 2 << 20  // bytes of one file; a Secret holds half of that
)

// File is one file of a stream.
type File struct {
	Name string `json:"file"`
	// SHA256 is over the content, in hex.
	SHA256 string `json:"sha256"`
}

// Stream lists the files of one gzip stream, in order.
type Stream []File

// List is the content of parts.json.
type List struct {
	// Version is 0 or 1 in the form that is described here.
	Version int `json:"version,omitempty"`
	// Config is the configuration: never empty in a valid list.
	Config Stream `json:"config"`
	// Rules is a tar archive of rule files; empty without.
	Rules Stream `json:"rules,omitempty"`
}

// ConfigName returns the name of a part of the configuration. number is the number of the
// Secret, 1 or more.
func ConfigName(number int) string { return "config-" + strconv.Itoa(number) + ".gz" }

// RulesName returns the name of a part of the rule archive, see [ConfigName].
func RulesName(number int) string { return "rules-" + strconv.Itoa(number) + ".tar.gz" }

// ConfigEnd and RulesEnd are the names of the last bytes of the two streams, which are in
// the same Secret as the list because every change modifies them.
const (
	ConfigEnd = "config-end.gz"
	RulesEnd  = "rules-end.tar.gz"
)

var partName = regexp.MustCompile(`^(config-(end|[1-9][0-9]*)\.gz|rules-(end|[1-9][0-9]*)\.tar\.gz)$`)

// Own reports whether name is the list or one of its parts.
func Own(name string) bool { return name == ListName || partName.MatchString(name) }

// Sum identifies the content of the stream: it is the SHA-256 in hex over the SHA-256
// sums of the files (32 bytes each) in order. It is empty for an empty stream.
func (s Stream) Sum() string {
	if len(s) == 0 {
		return ""
	}
	h := sha256.New()
	for _, f := range s {
		sum, _ := hex.DecodeString(f.SHA256) // checked by Parse
		h.Write(sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Encode returns the content of parts.json.
func (l List) Encode() ([]byte, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", ListName, err)
	}
	return append(text, '\n'), nil
}

// Parse decodes and checks parts.json. first is the name of the first file of the
// configuration; all other names must be names of parts.
//
// Errors: the text is not a valid list, or exceeds the limits.
func Parse(text []byte, first string) (List, error) {
	var l List
	if len(text) > MaxList {
		return l, fmt.Errorf("%s has %d bytes, the limit is %d", ListName, len(text), MaxList)
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("%s: %w", ListName, err)
	}
	if l.Version > Version {
		return l, fmt.Errorf("%s: has version %d, this config-reloader reads up to version %d: it needs a newer image", ListName, l.Version, Version)
	}
	return l, l.check(first)
}

func (l List) check(first string) error {
	if len(l.Config) == 0 || l.Config[0].Name != first {
		return fmt.Errorf("%s: the configuration must begin with %s", ListName, first)
	}
	seen := map[string]bool{}
	for _, s := range []struct {
		what   string
		stream Stream
	}{{"config", l.Config}, {"rules", l.Rules}} {
		if len(s.stream) > maxFiles {
			return fmt.Errorf("%s: %s has %d files, the limit is %d", ListName, s.what, len(s.stream), maxFiles)
		}
		for i, f := range s.stream {
			if err := f.check(s.what == "config" && i == 0); err != nil {
				return fmt.Errorf("%s: %s[%d]: %w", ListName, s.what, i, err)
			}
			if seen[f.Name] {
				return fmt.Errorf("%s: %s[%d]: %q stands there twice", ListName, s.what, i, f.Name)
			}
			seen[f.Name] = true
		}
	}
	return nil
}

func (f File) check(first bool) error {
	if !first && !partName.MatchString(f.Name) {
		return fmt.Errorf("%q is no name of a part", f.Name)
	}
	if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != sha256.Size {
		return errors.New("sha256 is not the hex form of a SHA-256")
	}
	return nil
}
