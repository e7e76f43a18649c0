package catalog

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Spelling is an object as a user specifies it.
type Spelling struct {
	Kind string // "servicemonitor", "smon", ...: a word for Word
	types.NamespacedName
}

// String returns the form in which programs print objects: "ServiceMonitor demo/web".
func (s Spelling) String() string { return s.Kind + " " + s.NamespacedName.String() }

// Spell parses the object at the start of words, and returns the remaining words:
//
//	KIND NAMESPACE/NAME    KIND/NAMESPACE/NAME
//	KIND NAME              KIND/NAME              in the given namespace
//
// namespace may be empty, see [Key].
//
// Errors: there are too few words; the name has a namespace other than the given one.
func Spell(words []string, namespace string) (s Spelling, rest []string, err error) {
	if len(words) == 0 {
		return s, nil, errors.New("no object: give KIND NAMESPACE/NAME")
	}
	kind, name, joined := strings.Cut(words[0], "/")
	rest = words[1:]
	if !joined {
		if len(rest) == 0 {
			return s, nil, fmt.Errorf("%q has no name: give KIND NAMESPACE/NAME", kind)
		}
		name, rest = rest[0], rest[1:]
	}
	s.Kind = kind
	s.NamespacedName, err = inNamespace(name, namespace)
	return s, rest, err
}

// FullKey parses NAMESPACE/NAME.
//
// Errors: anything else. The message quotes the text.
func FullKey(text string) (types.NamespacedName, error) {
	key, err := Key(text, "")
	if err != nil {
		return key, fmt.Errorf("want NAMESPACE/NAME, got %q", text)
	}
	return key, nil
}

// Key parses NAMESPACE/NAME, or NAME in the given namespace.
//
// Errors: anything else; the text has a namespace other than the given one.
func Key(text, namespace string) (types.NamespacedName, error) {
	key, err := inNamespace(text, namespace)
	if err == nil && (key.Namespace == "" || key.Name == "" || strings.Contains(key.Name, "/")) {
		err = errors.New("want NAMESPACE/NAME, or NAME and --namespace")
	}
	return key, err
}

func inNamespace(text, namespace string) (key types.NamespacedName, err error) {
	key.Namespace, key.Name = namespace, text
	if own, name, has := strings.Cut(text, "/"); has {
		if namespace != "" && namespace != own {
			return key, fmt.Errorf("%q is in another namespace than --namespace=%s", text, namespace)
		}
		key.Namespace, key.Name = own, name
	}
	return key, nil
}
