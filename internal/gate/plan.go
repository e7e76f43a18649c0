package gate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// field is a key of a struct for one target.
type field struct {
	index []int
	key   string
	write writer
	empty emptiness
	// need is the unmet condition of the tags; "" if the key is supported.
	need      string
	dropEmpty bool
	gated     bool // values of the type may gate themselves
	// first is the index of the same key further up, usually -1. Only one of the two is
	// written, the first that has a value.
	first int
}

// emptiness selects the values of a field that count as absent.
type emptiness uint8

const (
	never     emptiness = iota // always written
	whenZero                   // omitempty
	whenIsNil                  // omitnil
)

// structPlan lists the keys of a struct type.
type structPlan struct {
	fields []field
}

// plans caches the writers for one target.
type plans struct {
	target  Target
	writers sync.Map // reflect.Type -> writer
}

// targetKey identifies a target. Targets with equal keys share plans.
type targetKey struct {
	program Program
	version string
	mode    Mode
}

// maxTargets bounds the plan cache. A cluster has a handful of versions.
const maxTargets = 64

var cache = struct {
	sync.RWMutex
	byTarget map[targetKey]*plans
}{byTarget: map[targetKey]*plans{}}

// plansFor returns the shared plans of a target.
func plansFor(t Target) *plans {
	key := targetKey{program: t.Program, mode: t.Mode}
	if t.Version != nil { // documents without gates need no version
		key.version = t.Version.String()
	}
	cache.RLock()
	p := cache.byTarget[key]
	cache.RUnlock()
	if p != nil {
		return p
	}
	cache.Lock()
	defer cache.Unlock()
	if p := cache.byTarget[key]; p != nil {
		return p
	}
	if len(cache.byTarget) >= maxTargets {
		clear(cache.byTarget)
	}
	p = &plans{target: t}
	cache.byTarget[key] = p
	return p
}

// writerFor returns the cached writer of a type. It panics if a tag of the type does not
// parse; [Check] detects that in a test.
func (p *plans) writerFor(t reflect.Type) writer {
	if w, ok := p.writers.Load(t); ok {
		return w.(writer)
	}
	// A recursive type finds this placeholder while its plan is created.
	var (
		ready sync.WaitGroup
		real  writer
	)
	ready.Add(1)
	placeholder := writer(func(e *encoder, v reflect.Value, at place) {
		ready.Wait()
		real(e, v, at)
	})
	if w, loaded := p.writers.LoadOrStore(t, placeholder); loaded {
		return w.(writer)
	}
	w, err := p.newWriter(t)
	if err != nil {
		panic(err.Error())
	}
	real = w
	ready.Done()
	p.writers.Store(t, w)
	return w
}

// structPlanFor parses the tags of t and its inlined structs.
func (p *plans) structPlanFor(t reflect.Type) (*structPlan, error) {
	keys, err := keysOf(t)
	if err != nil {
		return nil, err
	}
	out := &structPlan{}
	for _, k := range keys {
		f := field{index: k.index, key: k.name, empty: k.empty, dropEmpty: k.dropEmpty, first: -1}
		if k.again {
			f.first = slices.IndexFunc(out.fields, func(o field) bool { return o.key == k.name })
		}
		for _, r := range k.rules {
			if f.need = r.need(p.target); f.need != "" {
				break
			}
		}
		if f.need == "" {
			ft := t.FieldByIndex(k.index).Type
			f.write, f.gated = p.writerFor(ft), selfGated(ft)
		}
		out.fields = append(out.fields, f)
	}
	return out, nil
}

// key is a key of a struct, independent of a target.
type key struct {
	index     []int
	name      string
	empty     emptiness
	dropEmpty bool
	again     bool
	rules     []rule // of the enclosing inlined structs, then its own
}

// keysOf returns the keys of a struct type in output order.
func keysOf(t reflect.Type) ([]key, error) {
	out, err := collect(t, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("gate: type %s: %w", t, err)
	}
	seen := map[string]bool{}
	for _, k := range out {
		if seen[k.name] != k.again {
			return nil, fmt.Errorf("gate: type %s: key %q occurs twice or again for the first time", t, k.name)
		}
		seen[k.name] = true
	}
	return out, nil
}

func collect(t reflect.Type, index []int, outer []rule) ([]key, error) {
	var out []key
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("yaml")
		if !f.IsExported() && !f.Anonymous || tag == "-" || !tagged && !f.IsExported() {
			continue
		}
		if !tagged {
			return nil, fmt.Errorf("field %s has no yaml tag", f.Name)
		}
		r, err := parseRule(f.Tag.Get("since"), f.Tag.Get("until"), f.Tag.Get("mode"))
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		rules := append(slices.Clip(slices.Clone(outer)), r)
		at := append(slices.Clone(index), i)
		name, options, _ := strings.Cut(tag, ",")
		if options == "inline" {
			if name != "" || f.Type.Kind() != reflect.Struct {
				return nil, fmt.Errorf("field %s: only a struct without a key can be inlined", f.Name)
			}
			inner, err := collect(f.Type, at, rules)
			if err != nil {
				return nil, fmt.Errorf("field %s: %w", f.Name, err)
			}
			out = append(out, inner...)
			continue
		}
		k, err := newKey(name, options, f.Tag.Get("empty"), at, rules)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		_, k.again = f.Tag.Lookup("again")
		out = append(out, k)
	}
	return out, nil
}

func newKey(name, options, empty string, index []int, rules []rule) (key, error) {
	k := key{index: index, name: name, rules: rules}
	if name == "" || styleOf(name) != plain {
		return key{}, fmt.Errorf("key %q is not a plain word", name)
	}
	switch options {
	case "":
	case "omitempty":
		k.empty = whenZero
	case "omitnil":
		k.empty = whenIsNil
	default:
		return key{}, fmt.Errorf("unknown yaml option %q", options)
	}
	switch empty {
	case "":
	case "drop":
		k.dropEmpty = true
	default:
		return key{}, fmt.Errorf(`empty %q is not "drop"`, empty)
	}
	return k, nil
}

// Check visits t and every type that its fields refer to. It returns the first error, for
// a tag that does not parse or a duplicate key, and the struct types that were visited.
// It is for tests of the packages that declare the types.
func Check(t reflect.Type) ([]reflect.Type, error) {
	var structs []reflect.Type
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type) error
	visit = func(t reflect.Type) error {
		if seen[t] || t == mapSliceType {
			return nil
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			return visit(t.Elem())
		case reflect.Struct:
			structs = append(structs, t)
			keys, err := keysOf(t)
			if err != nil {
				return err
			}
			for _, k := range keys {
				if err := visit(t.FieldByIndex(k.index).Type); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := visit(t)
	return structs, err
}

// Key describes one key of a struct type, for documentation pages.
type Key struct {
	Name string
	// Since and Until are versions or empty. SinceAgent is empty if it equals Since.
	// Since is "never" if no version of the program supports the key.
	Since, SinceAgent, Until string
	// Mode is empty if both modes support the key.
	Mode Mode
	// Type and Tag of the Go field.
	Type reflect.Type
	Tag  reflect.StructTag
}

// Keys returns the keys of a struct type in output order, with the gates of one program.
// If several rules apply (an inlined struct with its own gate), Since is the highest
// version.
func Keys(t reflect.Type, p Program) ([]Key, error) {
	keys, err := keysOf(t)
	if err != nil {
		return nil, err
	}
	out := make([]Key, 0, len(keys))
	for _, k := range keys {
		field := t.FieldByIndex(k.index)
		d := Key{Name: k.name, Type: field.Type, Tag: field.Tag}
		for _, r := range k.rules {
			r.describe(&d, p)
		}
		out = append(out, d)
	}
	return out, nil
}

// Need returns the unmet need of a key below a struct type, in the form of [Dropped], or
// "" if the target supports the key.
//
// path: "tls_config.min_version". Need panics if the key does not exist, because path is
// always a constant.
func Need(t reflect.Type, path string, target Target) string {
	for name := range strings.SplitSeq(path, ".") {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		keys, err := keysOf(t)
		if err != nil {
			panic(err.Error())
		}
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		if i < 0 {
			panic(fmt.Sprintf("gate: type %s has no key %q", t, name))
		}
		for _, r := range keys[i].rules {
			if need := r.need(target); need != "" {
				return need
			}
		}
		t = t.FieldByIndex(keys[i].index).Type
	}
	return ""
}

// describe merges the rule into the description of a key.
func (r rule) describe(d *Key, p Program) {
	if at := r.since[p]; at != nil && d.Since != noVersion {
		switch {
		case at.Version == nil:
			d.Since = noVersion
		case d.Since == "" || semver.MustParse(d.Since).LessThan(at.Version):
			d.Since = at.String()
		}
	}
	if at := r.until[p]; at != nil {
		d.Until = at.String()
	}
	if p != Prometheus {
		return
	}
	if at := r.since[agent]; at != nil {
		d.SinceAgent = at.String()
	}
	if r.mode != "" {
		d.Mode = r.mode
	}
}
