package hostile

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/check"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
)

// Manifest is an object as sent to the API server. Numbers are int64 or float64.
type Manifest = map[string]any

// Options configure a Source.
type Options struct {
	Seed      uint64
	Namespace string
	Beta      bool       // include AlertmanagerConfig v1beta1, which requires a conversion webhook
	Real      []Manifest // real objects to mutate; foreign kinds are ignored
}

// Source generates objects. It is safe for concurrent use.
type Source struct {
	seed      uint64
	namespace string
	kinds     map[string]*kind // by kind, and "AlertmanagerConfig/v1beta1"
	total     int              // sum of the weights
}

// kind is one version of a CRD.
type kind struct {
	name     string
	version  string
	resource string
	schema   *schema // of the complete object
	checker  *check.Checker
	sample   *sample.Generator
	slots    []slot
	bases    []Manifest
	real     []Manifest
}

type schema = apiextensionsv1.JSONSchemaProps

// Object is one hostile object.
type Object struct {
	Index    int
	Strategy string
	Kind     string
	Resource string
	Manifest Manifest
	// With lists the Secrets that the object refers to. They must be created before it.
	With []Manifest
	// Refused is the validation error of the CRD, if no valid object was found.
	Refused string
}

//go:embed bases.yaml
var bases string

// New reads the CRDs and returns a Source.
func New(o Options) (*Source, error) {
	all, err := crds.Full("1.0.0")
	if err != nil {
		return nil, err
	}
	s := &Source{seed: o.Seed, namespace: o.Namespace, kinds: map[string]*kind{}}
	for _, crd := range all {
		for _, v := range crd.Spec.Versions {
			if v.Name == "v1beta1" && !o.Beta {
				continue
			}
			k, err := newKind(crd, v)
			if err != nil {
				return nil, err
			}
			s.kinds[k.key()] = k
		}
	}
	manifests, err := Parse(bases)
	if err != nil {
		return nil, err
	}
	for _, m := range manifests {
		if k := s.kindOf(m); k != nil {
			k.bases = append(k.bases, m)
		}
	}
	for _, m := range o.Real {
		if k := s.kindOf(m); k != nil {
			k.real = append(k.real, m)
		}
	}
	for _, t := range strategies {
		s.total += t.weight
	}
	return s, nil
}

func newKind(crd *apiextensionsv1.CustomResourceDefinition, v apiextensionsv1.CustomResourceDefinitionVersion) (*kind, error) {
	k := &kind{name: crd.Spec.Names.Kind, version: v.Name, resource: crd.Spec.Names.Plural, schema: v.Schema.OpenAPIV3Schema}
	var err error
	if k.checker, err = check.New(crd, v.Name); err != nil {
		return nil, err
	}
	if k.sample, err = sample.New(crd, v.Name); err != nil {
		return nil, err
	}
	spec := k.schema.Properties["spec"]
	k.slots = slotsOf(&spec, []string{"spec"}, nil)
	return k, nil
}

func (k *kind) key() string {
	if k.version == "v1beta1" {
		return k.name + "/" + k.version
	}
	return k.name
}

// kindOf returns the kind of an object, or nil for foreign kinds.
func (s *Source) kindOf(m Manifest) *kind {
	version, _ := m["apiVersion"].(string)
	name, _ := m["kind"].(string)
	k := s.kinds[name]
	if k == nil || version != "monitoring.coreos.com/"+k.version {
		return nil
	}
	return k
}

// Parse parses a YAML stream.
func Parse(text string) ([]Manifest, error) {
	var out []Manifest
	for doc := range strings.SplitSeq(text, "\n---\n") {
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			return nil, err
		}
		m, err := decoded(raw)
		if err != nil {
			return nil, err
		}
		if len(m) > 0 {
			out = append(out, m)
		}
	}
	return out, nil
}

func decoded(raw []byte) (Manifest, error) {
	var m Manifest
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return m, nil
}

// Clone returns a deep copy with the number types of a manifest.
func Clone(m Manifest) Manifest {
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err) // m was decoded from JSON
	}
	out, err := decoded(raw)
	if err != nil {
		panic(err)
	}
	return out
}

// Object returns the object with this number. It is always the same for a seed.
func (s *Source) Object(index int) Object {
	m := &maker{Source: s, rng: rand.New(rand.NewPCG(s.seed, uint64(index))), index: index}
	t := m.strategy()
	m.kind = s.kinds[t.kinds[m.rng.IntN(len(t.kinds))]]
	if m.kind.name == "AlertmanagerConfig" && s.kinds["AlertmanagerConfig/v1beta1"] != nil && t.anyVersion && m.rng.IntN(2) == 0 {
		m.kind = s.kinds["AlertmanagerConfig/v1beta1"]
	}
	o := m.valid(t)
	o.Index, o.Strategy, o.Kind, o.Resource, o.With = index, t.name, m.kind.name, m.kind.resource, m.with
	return o
}

func (m *maker) strategy() strategy {
	n := m.rng.IntN(m.total)
	for _, t := range strategies {
		if n -= t.weight; n < 0 {
			return t
		}
	}
	panic("the weights do not add up")
}

// tries is the maximum number of attempts of a strategy to generate a valid object.
const tries = 8

// storable is the maximum size of an object in etcd, in bytes.
const storable = 1_500_000

// valid returns the first object of a strategy that the CRD accepts.
func (m *maker) valid(t strategy) Object {
	var o Object
	for range tries {
		m.with = nil
		o = Object{Manifest: t.make(m)}
		m.dress(o.Manifest)
		raw, err := json.Marshal(o.Manifest)
		if err != nil || len(raw) > storable {
			o.Refused = fmt.Sprintf("%d bytes are too large for etcd (%v)", len(raw), err)
			continue
		}
		copied, err := decoded(raw)
		if err != nil {
			o.Refused = err.Error()
			continue
		}
		problems := m.kind.checker.Values(copied)
		if len(problems) == 0 {
			return o
		}
		o.Refused = problems[0].Error()
	}
	return o
}

// dress sets the name of an object, and sometimes metadata of the maximum size.
func (m *maker) dress(o Manifest) {
	name := fmt.Sprintf("hostile-%d-%d", m.seed%1000, m.index)
	meta := Manifest{"namespace": m.namespace}
	if m.rng.IntN(8) == 0 {
		name += "-" + strings.Repeat("n", 253-len(name)-1)
	}
	meta["name"] = name
	if m.rng.IntN(10) == 0 {
		labels := Manifest{}
		for i := range 200 {
			labels[fmt.Sprintf("%s.example/l%d", strings.Repeat("p", 200), i)] = strings.Repeat("v", 63)
		}
		meta["labels"] = labels
	}
	if m.rng.IntN(10) == 0 {
		meta["annotations"] = Manifest{
			"example.com/large":                     strings.Repeat("a", 200<<10),
			"operator.prometheus.io/lint-ignore":    m.oddString(),
			"operator.prometheus.io/skip":           m.oddString(),
			"prometheus-operator-validated":         m.oddString(),
			"operator.prometheus.io/config-refused": m.oddString(),
		}
	}
	o["metadata"] = meta
	delete(o, "status")
}

// Strategies returns the names of the strategies.
func Strategies() []string {
	var out []string
	for _, t := range strategies {
		out = append(out, t.name)
	}
	slices.Sort(out)
	return out
}
