package amconfig

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/config/common"
	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
)

// misfit matches an error of the loader about a value of another shape, after [single], with its line and what it got or
// wants.
var misfit = lazyregexp.New("^line (\\d+): (?:cannot unmarshal !!\\w+ `[^`]*` into (\\S+)|got (a list) where another value belongs)$")

// shape is the form of the value of a setting in YAML.
type shape int

const (
	unknownShape shape = iota
	oneValue
	aList
	anObject
)

// shapes are the values of another shape than their settings, by line. Each is the cause of one error.
type shapes map[string][]misplacedValue

// misplacedValue is such a value, and the error about it.
type misplacedValue struct {
	want shape
	err  error
}

// matchKey matches the path of a setting with matchers as an object.
var matchKey = lazyregexp.New(`(?:^|\.)((?:source_|target_)?)match(?:_re)?$`)

// shapesOf finds the values of another shape than their settings.
func shapesOf(root *yaml.Node) shapes {
	out, fields := shapes{}, map[reflect.Type]map[string]reflect.Type{}
	types := map[*yaml.Node]reflect.Type{root: reflect.TypeFor[config.Config]()}
	for n := range manifest.Nodes("", root) {
		t := types[n.Node]
		if t == nil {
			continue
		}
		delete(types, n.Node)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		want := shapeOf(t)
		switch {
		case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
			if fields[t] == nil {
				fields[t] = fieldsOf(t)
			}
			for i := 0; i+1 < len(n.Content); i += 2 {
				types[n.Content[i+1]] = fields[t][n.Content[i].Value]
			}
		case n.Kind == yaml.SequenceNode && want == aList:
			for _, item := range n.Content {
				types[item] = t.Elem()
			}
		case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Map && matchKey.MatchString(n.Path):
			line := strconv.Itoa(n.Line)
			out[line] = append(out[line], misplacedValue{oneValue, fmt.Errorf("line %s: %s: want an object, such as {severity: critical}; write a list of matchers as %s", line, n.Path, matchKey.FindStringSubmatch(n.Path)[1]+"matchers")})
		case n.Kind == yaml.SequenceNode && want == oneValue, n.Kind == yaml.ScalarNode && !isNull(n.Node) && (want == aList || want == anObject):
			line := strconv.Itoa(n.Line)
			out[line] = append(out[line], misplacedValue{want, fmt.Errorf("line %s: %s: want %s", line, n.Path, correction(n, t, want))})
		}
	}
	return out
}

// named returns an error about a value of another shape with the path of its setting and what to write; others unchanged.
func (s shapes) named(err error) error {
	m := misfit.FindStringSubmatch(receiverIndex.ReplaceAllString(err.Error(), "")) // the path has it
	if m == nil {
		return err
	}
	want := anObject
	switch {
	case m[3] != "":
		want = oneValue
	case strings.HasPrefix(m[2], "[]"):
		want = aList
	}
	for i, value := range s[m[1]] {
		if value.want == want {
			s[m[1]] = append(s[m[1]][:i:i], s[m[1]][i+1:]...)
			return value.err
		}
	}
	return err
}

// shapeOf returns how a type of the loader is written. Structs without names of fields are parsed from text, or in ways that
// are not known here.
func shapeOf(t reflect.Type) shape {
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64:
		return oneValue
	case reflect.Slice:
		return aList
	case reflect.Map:
		return anObject
	case reflect.Struct:
		for f := range t.Fields() {
			if name := f.Tag.Get("yaml"); name != "" && name != "-" {
				return anObject
			}
		}
		if strings.HasSuffix(t.Name(), "URL") {
			return oneValue
		}
	}
	return unknownShape
}

// fieldsOf returns the types of the fields of a struct by their names in YAML, with those of inlined structs.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline" && f.Type.Kind() == reflect.Struct:
			for name, of := range fieldsOf(f.Type) {
				out[name] = of
			}
		case name != "" && name != "-":
			out[name] = f.Type
		}
	}
	return out
}

// correction returns the shape of a setting with an example, which has the value if errors may contain it.
func correction(n manifest.Node, t reflect.Type, want shape) string {
	switch want {
	case oneValue:
		return "one value, got a list"
	case aList:
		texts := t.Elem().Kind() == reflect.String || t == reflect.TypeFor[common.Matchers]()
		switch {
		case !texts:
			return "a list"
		case redact.InError(n.Path) || len(n.Value) > maxShown || strings.Contains(n.Value, "\n"):
			return "a list: ['…']"
		}
		return "a list: ['" + strings.ReplaceAll(n.Value, "'", "''") + "']"
	}
	var names []string
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField() && len(names) < 2; i++ {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name != "" && name != "-" && !strings.HasSuffix(name, "_file") && !strings.HasSuffix(name, "_ref") {
			names = append(names, name+": …")
		}
	}
	if names == nil {
		return "an object"
	}
	return "an object: {" + strings.Join(names, ", ") + "}"
}
