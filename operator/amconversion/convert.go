package amconversion

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
	"github.com/firekeeper-dev/firekeeper/operator/manifest"
)

// ToBeta converts an object to v1beta1.
//
// Errors: each field of a child route that routes do not have, or that has a wrong type,
// with its path ("spec.route.routes[0].routes[1].receivers: unknown field"), joined.
func ToBeta(in *v1alpha1.AlertmanagerConfig) (*v1beta1.AlertmanagerConfig, error) {
	in = in.DeepCopy()
	out := &v1beta1.AlertmanagerConfig{}
	assign(reflect.ValueOf(out).Elem(), reflect.ValueOf(in).Elem())
	if in.Kind != "" {
		out.SetGroupVersionKind(v1beta1.GroupVersionKind(v1beta1.AlertmanagerConfigKind))
	}
	if in.Spec.Route == nil {
		return out, nil
	}
	var err error
	out.Spec.Route.Routes, err = children[alphaRoute, betaRoute](in.Spec.Route.Routes)
	return out, err
}

// FromBeta converts an object from v1beta1. Errors are those of [ToBeta].
func FromBeta(in *v1beta1.AlertmanagerConfig) (*v1alpha1.AlertmanagerConfig, error) {
	in = in.DeepCopy()
	out := &v1alpha1.AlertmanagerConfig{}
	assign(reflect.ValueOf(out).Elem(), reflect.ValueOf(in).Elem())
	if in.Kind != "" {
		out.SetGroupVersionKind(v1alpha1.GroupVersionKind(v1alpha1.AlertmanagerConfigKind))
	}
	if in.Spec.Route == nil {
		return out, nil
	}
	var err error
	out.Spec.Route.Routes, err = children[betaRoute, alphaRoute](in.Spec.Route.Routes)
	return out, err
}

// alphaRoute is a child route and all below it, which are read at once: reading each level
// on its own takes time that grows with the square of the depth.
type alphaRoute struct {
	v1alpha1.Route `json:",inline"`
	Routes         []alphaRoute `json:"routes,omitempty"`
}

// betaRoute is alphaRoute in v1beta1.
type betaRoute struct {
	v1beta1.Route `json:",inline"`
	Routes        []betaRoute `json:"routes,omitempty"`
}

// children converts the child routes of the top route.
func children[From, To any](in []apiextensionsv1.JSON) (out []apiextensionsv1.JSON, err error) {
	if in == nil {
		return nil, nil
	}
	out = make([]apiextensionsv1.JSON, 0, len(in))
	var faults []error
	for i, raw := range in {
		var from From
		if err := manifest.Decode(raw.Raw, &from); err != nil {
			faults = append(faults, at(fmt.Sprintf("spec.route.routes[%d]", i), err))
			continue
		}
		var to To
		assign(reflect.ValueOf(&to).Elem(), reflect.ValueOf(from))
		text, err := json.Marshal(to)
		if err != nil {
			return nil, err
		}
		out = append(out, apiextensionsv1.JSON{Raw: text})
	}
	return out, errors.Join(faults...)
}

// at puts the path of an object before those of the faults in it.
func at(path string, err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range joined.Unwrap() {
			out = append(out, at(path, e))
		}
		return errors.Join(out...)
	}
	if fault, ok := errors.AsType[*manifest.FieldError](err); ok {
		within := *fault
		within.Path = path
		if fault.Path != "" {
			within.Path += "." + fault.Path
		}
		return &within
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Names of fields that differ: in v1alpha1, in v1beta1.
const (
	alphaIntervals = "muteTimeIntervals"
	betaIntervals  = "timeIntervals"
)

// alphaPath finds the renamed field where an error of v1alpha1 names it.
var alphaPath = regexp.MustCompile(`(^|\bspec\.)` + alphaIntervals + `\b`)

// BetaText words an error or remark about a v1alpha1 object for who wrote it as v1beta1.
func BetaText(text string) string {
	return alphaPath.ReplaceAllString(text, "${1}"+betaIntervals)
}

// renamed are the fields of a type that have another name in the other version.
var renamed = map[reflect.Type]map[string]string{
	reflect.TypeFor[v1alpha1.AlertmanagerConfigSpec](): {alphaIntervals: betaIntervals},
	reflect.TypeFor[v1beta1.AlertmanagerConfigSpec]():  {betaIntervals: alphaIntervals},
}

// meant are the types of which a copy of the fields does not say all: what completes it.
var meant = map[reflect.Type]func(dst, src reflect.Value){
	reflect.TypeFor[v1alpha1.Matcher](): func(dst, src reflect.Value) {
		to, from := dst.Addr().Interface().(*v1beta1.Matcher), src.Interface().(v1alpha1.Matcher)
		switch {
		case from.MatchType != "":
		case from.Regex:
			to.MatchType = v1beta1.MatchRegexp
		default:
			to.MatchType = v1beta1.MatchEqual
		}
	},
}

// assign copies a value to one of the other version. Fields that it does not have are
// left out; a test knows them all.
func assign(dst, src reflect.Value) {
	if dst.Type() == src.Type() {
		dst.Set(src)
		return
	}
	switch src.Kind() {
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(dst.Type().Elem()))
			assign(dst.Elem(), src.Elem())
		}
	case reflect.Slice:
		if !src.IsNil() {
			dst.Set(reflect.MakeSlice(dst.Type(), src.Len(), src.Len()))
			for i := range src.Len() {
				assign(dst.Index(i), src.Index(i))
			}
		}
	case reflect.Struct:
		to := fields(dst.Type())
		for name, index := range fields(src.Type()) {
			if other, ok := renamed[src.Type()][name]; ok {
				name = other
			}
			if target, ok := to[name]; ok {
				assign(dst.FieldByIndex(target), src.FieldByIndex(index))
			}
		}
		if complete, ok := meant[src.Type()]; ok {
			complete(dst, src)
		}
	default: // strings and the like, of another name
		dst.Set(src.Convert(dst.Type()))
	}
}

// fields are the fields of a struct by their names in JSON, those of embedded structs
// included, each with where it is.
func fields(t reflect.Type) map[string][]int {
	out := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			out[name] = f.Index
		}
	}
	return out
}
