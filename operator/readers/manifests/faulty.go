package manifests

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// without decodes an object without its faulty fields. It reports whether the rest is usable.
func without(faults []error, object map[string]any, into metav1.Object) bool {
	for _, fault := range faults {
		path := pathOf(fault)
		if path == "" {
			return false
		}
		if at, ok := errors.AsType[*InvalidError](fault); ok && at.enum {
			continue // its use reports the same error, and the default would be a different value
		}
		if textArgument.MatchString(path) && readArgument(object, SplitPath(path)) {
			continue
		}
		remove(object, SplitPath(path))
	}
	rest, err := json.Marshal(object)
	if err != nil {
		return false
	}
	value := reflect.ValueOf(into).Elem()
	value.SetZero()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(rest, into); err != nil {
		return false
	}
	into.SetNamespace(namespaceOr(into.GetNamespace()))
	return into.GetName() != ""
}

// textArgument matches the path of an item of a list of arguments.
var textArgument = lazyregexp.New(`\.additionalArgs\[\d+\]$`)

// readArgument replaces a text in a list of arguments by the argument that it means: it is reported, and must not hide what is
// wrong elsewhere in the object. It reports whether there is a text at the path.
func readArgument(object map[string]any, path []string) bool {
	var at any = object
	for _, part := range path[:len(path)-1] {
		fields, _ := at.(map[string]any)
		at = fields[part]
	}
	list, _ := at.([]any)
	i, err := strconv.Atoi(path[len(path)-1])
	if err != nil || i >= len(list) {
		return false
	}
	text, is := list[i].(string)
	if !is {
		return false
	}
	argument := map[string]any{}
	name, value, has := strings.Cut(strings.TrimLeft(text, "-"), "=")
	if argument["name"] = name; has {
		argument["value"] = value
	}
	list[i] = argument
	return true
}

// pathOf returns the field that an error is about; empty when there is none.
func pathOf(err error) string {
	if at, ok := errors.AsType[*manifest.FieldError](err); ok {
		return at.Path
	}
	if at, ok := errors.AsType[*InvalidError](err); ok {
		return at.Path
	}
	return ""
}

// remove deletes a field from a document. Items of lists stay, because removing one would shift the
// indexes of later ones.
func remove(v any, path []string) {
	switch at := v.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(at, path[0])
			return
		}
		remove(at[path[0]], path[1:])
	case []any:
		i, err := strconv.Atoi(path[0])
		if err == nil && i >= 0 && i < len(at) && len(path) > 1 {
			remove(at[i], path[1:])
		}
	}
}

// withoutEchoes drops consequential errors: required fields that are missing because they are
// misspelled or in another format, and wrong types of unknown fields.
func withoutEchoes(faults []error) []error {
	meant, unknown, confused := map[string]bool{}, map[string]bool{}, map[string]string{}
	var foreign []string // fields of the Helm chart or of another version, whose own fields differ too
	for _, fault := range faults {
		at, ok := fault.(*manifest.FieldError)
		switch {
		case !ok:
		case at.Elsewhere != "":
			_, name := cutField(at.Path)
			meant[at.Elsewhere], meant[at.Elsewhere+"."+name], unknown[at.Path] = true, true, true
			if at.Elsewhere == manifest.TopLevel {
				meant[name] = true
			}
		case at.Suggestion != "":
			meant[at.Meant()] = true
		case at.Unknown():
			unknown[at.Path] = true
			parent, _ := cutField(at.Path)
			confused[parent] += at.Hint + " "
			if inner, is := at.Value.(map[string]any); is && at.Hint == nestedTwice {
				for field := range inner {
					meant[manifest.Child(parent, field)] = true
				}
			}
			if strings.HasPrefix(at.Hint, "a value of the Helm chart") || strings.Contains(at.Hint, " calls them ") {
				foreign = append(foreign, at.Path)
			}
		}
	}
	return slices.DeleteFunc(faults, func(fault error) bool {
		switch at := fault.(type) {
		case *InvalidError:
			parent, name := cutField(at.Path)
			return at.Reason == isRequired && (meant[at.Path] || slices.Contains(words.Get().FindAllString(confused[parent], -1), name))
		case *manifest.FieldError:
			return unknown[at.Path] && !at.Unknown() || slices.ContainsFunc(foreign, func(path string) bool {
				below, is := strings.CutPrefix(at.Path, path)
				return is && (strings.HasPrefix(below, ".") || strings.HasPrefix(below, "["))
			})
		}
		return false
	})
}

// words matches the words of a message.
var words = lazyregexp.New(`\w+`)

// cutField splits off the last field of a path.
func cutField(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)], path[i+1:]
}

// spelled returns a path of the schema, in which no key is quoted, with quotes around the keys of the object that need them.
func spelled(object any, path string) string {
	if len(path) > budget.PathBytes {
		return path
	}
	if out, found := follow(object, "", path); found {
		return out
	}
	return path
}

// follow appends to the path of a value the rest of a path. found is set if there is such a value, or all but its last
// field.
func follow(at any, path, rest string) (out string, found bool) {
	switch v := at.(type) {
	case map[string]any:
		for end := len(rest); end > 0; end-- {
			child, is := any(nil), end == len(rest) || rest[end] == '.' || rest[end] == '['
			if is {
				child, is = v[rest[:end]]
			}
			if is {
				if out, found = follow(child, manifest.Child(path, rest[:end]), strings.TrimPrefix(rest[end:], ".")); found {
					return out, true
				}
			}
		}
		return faults.Join(path, rest), !strings.ContainsAny(rest, ".[")
	case []any:
		index, after, is := strings.Cut(strings.TrimPrefix(rest, "["), "]")
		if i, err := strconv.Atoi(index); is && err == nil && i >= 0 && i < len(v) {
			return follow(v[i], path+"["+index+"]", strings.TrimPrefix(after, "."))
		}
	}
	return path, rest == ""
}

// SplitPath splits "spec.endpoints[0].a" into spec, endpoints, 0, a. Quoted keys, as in
// labels["a.b"], are not split.
func SplitPath(path string) (parts []string) {
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case strings.HasPrefix(path, `["`):
			end := strings.Index(path, `"]`)
			if end < 0 {
				return append(parts, path)
			}
			key, err := strconv.Unquote(path[1 : end+1])
			if err != nil {
				key = path[2:end]
			}
			parts, path = append(parts, key), path[end+2:]
		case path[0] == '[':
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return append(parts, path)
			}
			parts, path = append(parts, path[1:end]), path[end+1:]
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			parts, path = append(parts, path[:end]), path[end:]
		}
	}
	return parts
}
