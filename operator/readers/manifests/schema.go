package manifests

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/check"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// schemas apply defaults and validation as the API server does before it stores an object. The
// checker of a kind is created on first use: it takes some milliseconds and a megabyte.
type schemas struct {
	mu       sync.Mutex
	checkers map[schema.GroupVersionKind]*check.Checker
}

// shared are the schemas of the CRDs in this program, shared by all readers of manifests.
var shared schemas

func (s *schemas) checker(kind schema.GroupVersionKind) (*check.Checker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.checkers[kind]; ok {
		return c, nil
	}
	c, err := newChecker(kind)
	if err != nil {
		return nil, err
	}
	if s.checkers == nil {
		s.checkers = map[schema.GroupVersionKind]*check.Checker{}
	}
	s.checkers[kind] = c
	return c, nil
}

func newChecker(kind schema.GroupVersionKind) (c *check.Checker, err error) {
	for _, full := range []bool{false, true} { // the full set has more versions, and takes longer to load
		crd, loadErr := crds.OfKind(kind.Kind, full)
		switch {
		case loadErr != nil:
			return nil, loadErr
		case crd == nil:
			return nil, errors.New("no CRD for " + kind.String())
		}
		if c, err = check.New(crd, kind.Version); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// read sets the defaults of the API, then decodes an object strictly.
//
// Errors: one *manifest.FieldError for each unknown field or field of a wrong type, one
// *InvalidError for each value that the API server would reject, at most [budget.DocumentFaults] of
// each; the latter only if validate is set. usable reports whether into has the whole document
// except for the faulty fields. Otherwise it must not be used.
//
// If an object is too large to be decoded, only its metadata is decoded, along with the reason, as
// for a stored object.
func (s *schemas) read(kind schema.GroupVersionKind, raw []byte, into metav1.Object, validate bool) (usable bool, err error) {
	if budget.Check(kind.Kind, raw) != nil {
		err := manifest.DecodeStored(raw, into)
		into.SetNamespace(namespaceOr(into.GetNamespace()))
		return err == nil, err
	}
	checker, err := s.checker(kind)
	if err != nil {
		return false, err
	}
	var object map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &object); err != nil {
		return false, err
	}
	checker.Default(object)
	full, err := json.Marshal(object)
	if err != nil {
		return false, err
	}
	wrong := faults.Leaves(manifest.DecodeJSON(full, into))
	for i := range wrong {
		wrong[i] = reword(kind.Kind, wrong[i])
	}
	into.SetNamespace(namespaceOr(into.GetNamespace()))
	if !validate {
		return len(wrong) == 0, errors.Join(wrong...)
	}
	reported := pathsOf(wrong)
	problems := checker.Defaulted(object)
	switch {
	case len(wrong) == 0:
		problems = append(problems, metadata(into)...)
	case !reported["metadata"]:
		problems = append(problems, metadataAlone(object)...)
	}
	slices.SortStableFunc(problems, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	problems = withoutBranches(problems)
	more := len(problems) >= budget.DocumentFaults
	for _, p := range problems[:min(len(problems), budget.DocumentFaults)] {
		if !reported[spelled(object, p.Field)] {
			one := newInvalidError(p)
			one.Path = spelled(object, one.Path)
			if keys, is := p.BadValue.(map[string]any); is && p.Type == field.ErrorTypeDuplicate {
				one.Reason = cmp.Or(alreadyIn(object, p.Field, keys), one.Reason)
			}
			wrong = append(wrong, one)
		}
	}
	wrong = withoutEchoes(wrong)
	for _, fault := range wrong {
		if at, is := fault.(*InvalidError); is && at.Reason == isRequired {
			at.Reason += dashTooMany(object, at.Path)
		}
	}
	if more {
		return false, errors.Join(append(wrong, &InvalidError{Path: "the object", Reason: fmt.Sprintf("after %d values that are refused, no more are looked for", budget.DocumentFaults)})...)
	}
	return len(wrong) == 0 || without(wrong, object, into), errors.Join(wrong...)
}

// pathsOf returns the paths of faults, and "metadata" if one of them is within it.
func pathsOf(wrong []error) map[string]bool {
	out := map[string]bool{}
	for _, fault := range wrong {
		if at, ok := errors.AsType[*manifest.FieldError](fault); ok {
			out[at.Path] = true
			if strings.HasPrefix(at.Path, "metadata.") {
				out["metadata"] = true
			}
		}
	}
	return out
}

// metadataAlone validates the metadata of an object that has faults elsewhere, so that its decoded
// form may be empty.
func metadataAlone(object map[string]any) field.ErrorList {
	var meta metav1.ObjectMeta
	if text, err := json.Marshal(object["metadata"]); err != nil || json.Unmarshal(text, &meta) != nil {
		return nil
	}
	meta.Namespace = namespaceOr(meta.Namespace)
	return metadata(&meta)
}

// invalid joins problems into one error.
func invalid(problems field.ErrorList) error {
	var out []error
	for _, p := range problems {
		out = append(out, newInvalidError(p))
	}
	return errors.Join(out...)
}

const isRequired = "is required"

// ofField matches the message of a rule that an object violates by one of its fields, and that begins with the field.
var ofField = lazyregexp.New(`^([a-z]\w*) ((?:cannot be|can only be|requires|must be greater than or equal to) .*)`)

// placeholder matches the variables of tools that generate manifests.
var placeholder = lazyregexp.New(`\$\{\w+|\$\(\w+\)`)

// InvalidError is a value that the API server rejects.
type InvalidError struct {
	Path   string // "spec.endpoints[0].interval"
	Reason string // without the value, which may be a secret

	enum bool // the value is not one of an enumeration
}

// Error returns path and reason in one line.
func (e *InvalidError) Error() string { return e.Path + ": " + e.Reason }

// Located returns path and reason.
func (e *InvalidError) Located() (field, reason string) { return e.Path, e.Reason }

// newInvalidError words a problem without repeating path and value, except for the values of
// enumerations and the keys of lists.
func newInvalidError(p *field.Error) *InvalidError {
	_, detail, inBody := strings.Cut(p.Detail, " in body ")
	if !inBody {
		detail = strings.TrimPrefix(p.Detail, p.Field+" ")
	}
	detail = strings.TrimSpace(detail)
	switch p.Type {
	case field.ErrorTypeRequired:
		detail = isRequired
	case field.ErrorTypeDuplicate:
		detail = "an earlier item is the same"
		if keys, ok := p.BadValue.(map[string]any); ok {
			detail = "an earlier item has the same " + sameKey(keys)
		}
	case field.ErrorTypeNotSupported:
		detail = oneOf(p, detail)
	case field.ErrorTypeTypeInvalid:
		detail, _, _ = strings.Cut(detail, ": ")
		if detail == "must be of type integer,string" {
			detail = "want an integer or a string: put a number with decimals in quotes"
		}
	case field.ErrorTypeInvalid:
		if text, is := p.BadValue.(string); is && placeholder.MatchString(text) {
			detail = "has a placeholder that nothing has replaced: check what envsubst, Flux, kustomize or Helm make of this file"
		} else if known, ok := patternOf(detail); ok {
			detail = known.words(p.Field, p.BadValue)
		}
	}
	path := p.Field
	if m := ofField.FindStringSubmatch(detail); m != nil && p.Type == field.ErrorTypeInvalid {
		path, detail = path+"."+m[1], m[2]
	}
	return &InvalidError{Path: path, Reason: detail, enum: p.Type == field.ErrorTypeNotSupported}
}

// withoutBranches keeps one type error per field: a value that is neither an integer nor a string
// has one for each branch of the schema, and one for the choice.
func withoutBranches(problems field.ErrorList) (out field.ErrorList) {
	said := map[string]bool{}
	for _, p := range problems {
		switch {
		case p.Field == "<nil>":
		case p.Type != field.ErrorTypeTypeInvalid:
			out = append(out, p)
		case !said[p.Field]:
			said[p.Field] = true
			out = append(out, p)
		}
	}
	return out
}

// alreadyIn describes the earlier item of a list with the same keys; empty when it is not found.
func alreadyIn(object map[string]any, path string, keys map[string]any) string {
	open := strings.LastIndexByte(path, '[')
	if open < 0 {
		return ""
	}
	for i, item := range listAt(object, path[:open]) {
		other, is := item.(map[string]any)
		same := is
		for name, value := range keys {
			same = same && fmt.Sprint(other[name]) == fmt.Sprint(value)
		}
		if same {
			return fmt.Sprintf("%s is that of %s[%d] already, and has to be unique in the list: change one of them", sameKey(keys), path[:open], i)
		}
	}
	return ""
}

// listAt returns the list at a path; nil if there is none.
func listAt(object map[string]any, path string) []any {
	var at any = object
	for _, part := range SplitPath(path) {
		switch v := at.(type) {
		case map[string]any:
			at = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		}
	}
	list, _ := at.([]any)
	return list
}

// dashTooMany returns a hint if a field that a list item lacks is in a neighbouring item with which
// it has no field in common: the two are probably meant to be one.
func dashTooMany(object map[string]any, path string) string {
	parent, name := cutField(path)
	open := strings.LastIndexByte(parent, '[')
	if open < 0 || !strings.HasSuffix(parent, "]") {
		return ""
	}
	list := listAt(object, parent[:open])
	i, err := strconv.Atoi(parent[open+1 : len(parent)-1])
	if err != nil || i < 0 || i >= len(list) {
		return ""
	}
	completes := func(j int) bool {
		if j < 0 || j >= len(list) {
			return false
		}
		this, _ := list[i].(map[string]any)
		other, _ := list[j].(map[string]any)
		for key := range this {
			if _, both := other[key]; both {
				return false
			}
		}
		return len(this) > 0 && other[name] != nil
	}
	switch {
	case completes(i - 1):
		return " (is there a dash too many before this item?)"
	case completes(i + 1):
		return " (is there a dash too many before the next item?)"
	}
	return ""
}
