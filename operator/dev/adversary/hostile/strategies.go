package hostile

import (
	"fmt"
	"strings"
)

// strategy is one way to generate an object.
type strategy struct {
	name       string
	weight     int
	kinds      []string // all equally likely
	make       func(*maker) Manifest
	anyVersion bool // include v1beta1 of AlertmanagerConfig
}

var (
	tenantKinds   = []string{"ServiceMonitor", "PodMonitor", "Probe", "ScrapeConfig", "PrometheusRule", "AlertmanagerConfig"}
	workloadKinds = []string{"Prometheus", "PrometheusAgent", "Alertmanager", "ThanosRuler"}
	monitorKinds  = []string{"ServiceMonitor", "PodMonitor", "Probe", "ScrapeConfig"}
	endpointKinds = []string{"ServiceMonitor", "PodMonitor"}
	ruleKind      = []string{"PrometheusRule"}
	routingKind   = []string{"AlertmanagerConfig"}
)

// strategies is the table. Expensive objects have lower weights, so that most objects are cheap and many can be tested.
var strategies = []strategy{
	{"sample", 8, tenantKinds, (*maker).random, true},
	{"extremes", 28, tenantKinds, (*maker).extremes, true},
	{"real with extremes", 10, tenantKinds, (*maker).realWithExtremes, false},
	{"cannot be decoded", 10, tenantKinds, (*maker).undecodable, true},
	{"long string", 4, tenantKinds, (*maker).longString, true},
	{"large list", 4, tenantKinds, (*maker).largeList, true},
	{"references", 4, tenantKinds, (*maker).references, true},
	{"workload with extremes", 3, workloadKinds, (*maker).extremes, false},
	{"workload that cannot be decoded", 1, workloadKinds, (*maker).undecodable, false},
	{"workload with documents", 3, workloadKinds, (*maker).documents, false},
	{"expanding endpoints", 3, endpointKinds, (*maker).expanding, false},
	{"expensive regexes", 5, monitorKinds, (*maker).regexes, false},
	{"large CA", 1, endpointKinds, (*maker).largeCA, false},
	{"expensive PromQL", 6, ruleKind, (*maker).promQL, false},
	{"many rules", 2, ruleKind, (*maker).manyRules, false},
	{"templates", 3, ruleKind, (*maker).ruleTemplates, false},
	{"near names", 3, routingKind, (*maker).nearNames, false},
	{"deep routes", 3, routingKind, (*maker).deepRoutes, false},
	{"keys in other case", 3, routingKind, (*maker).otherCase, false},
	{"unknown fields", 3, routingKind, (*maker).unknownFields, false},
	{"expensive matchers", 2, routingKind, (*maker).matchers, false},
	{"receiver templates", 2, routingKind, (*maker).receiverTemplates, false},
}

// base returns a valid object of the kind.
func (m *maker) base() Manifest {
	if len(m.kind.bases) == 0 {
		return m.random()
	}
	return Clone(m.kind.bases[m.rng.IntN(len(m.kind.bases))])
}

// random returns a random object that the schema allows.
func (m *maker) random() Manifest {
	o, err := m.kind.sample.Object(m.rng, oneOf(m, 0, 0.1, 0.3))
	if err != nil {
		return m.shell(map[string]any{})
	}
	return o
}

// shell returns an object with a spec.
func (m *maker) shell(spec map[string]any) Manifest {
	return Manifest{"apiVersion": "monitoring.coreos.com/" + m.kind.version, "kind": m.kind.name, "spec": spec}
}

func (m *maker) extremes() Manifest { return m.mutated(m.base()) }

func (m *maker) realWithExtremes() Manifest {
	if len(m.kind.real) == 0 {
		return m.mutated(m.base())
	}
	return m.mutated(Clone(m.kind.real[m.rng.IntN(len(m.kind.real))]))
}

// mutated sets some fields of an object to extreme values, each only if the CRD accepts it.
func (m *maker) mutated(o Manifest) Manifest {
	for range oneOf(m, 1, 1, 2, 5) {
		at, ok := m.pick(func(*schema) bool { return true })
		if !ok {
			return o
		}
		o = m.changed(o, at, m.extreme(at.schema))
	}
	return o
}

// changed sets a field if the CRD accepts the result.
func (m *maker) changed(o Manifest, at slot, value any) Manifest {
	try := Clone(o)
	if len(at.path) < 2 { // an entire spec
		return o
	}
	m.put(try, at, value)
	problems := m.kind.checker.Values(Clone(try))
	if len(problems) > 0 {
		return o
	}
	return try
}

// undecodable sets a field to a value that the schema accepts and the Go type does not.
func (m *maker) undecodable() Manifest {
	o := m.base()
	for range tries {
		at, ok := m.pick(func(s *schema) bool {
			return s.XIntOrString || s.Type == "integer" || s.Type == "string" && (s.Format == "date-time" || strings.HasPrefix(s.Pattern, `^(\+|-)?`))
		})
		if !ok {
			return m.mutated(o)
		}
		value := oneOf[any](m, int64(3000000000), int64(-3000000000))
		switch {
		case at.schema.XIntOrString && at.schema.Pattern != "":
			value = oneOf[any](m, "1e1.5", "1e999999999999", int64(3000000000))
		case at.schema.Format == "date-time":
			value = "2026-06-30T23:59:60Z"
		}
		if next := m.changed(o, at, value); fmt.Sprint(next) != fmt.Sprint(o) {
			return next
		}
	}
	return m.mutated(o)
}

// stored is the target size of large objects, below etcd's limit of 1.5 MB with the metadata.
const stored = 1_200_000

// longString extends one string to the target size.
func (m *maker) longString() Manifest {
	o := m.base()
	at, ok := m.pick(func(s *schema) bool {
		return s.Type == "string" && s.MaxLength == nil && len(s.Enum) == 0 && s.Format == ""
	})
	if !ok {
		return m.mutated(o)
	}
	size := oneOf(m, 64<<10, 512<<10, stored)
	if at.schema.Pattern != "" {
		if text, fits := m.matching(at.schema.Pattern, 0, 0); fits {
			return m.changed(o, at, text)
		}
		return o
	}
	piece := oneOf(m, "x", "é", "\n", "(", "a|", "{{.}}", "a: b\n", "$(A)", "😀", "\\", "\"", " ")
	return m.changed(o, at, strings.Repeat(piece, size/len(piece)))
}

// largeList extends one list to the target size, with items as small as the schema allows.
func (m *maker) largeList() Manifest {
	o := m.base()
	at, ok := m.pick(func(s *schema) bool { return s.Type == "array" })
	if !ok {
		return m.mutated(o)
	}
	count := oneOf(m, 1000, 5000, 20000)
	if at.schema.MaxItems != nil {
		count = min(count, int(*at.schema.MaxItems))
	}
	if one := len(fmt.Sprint(m.items(at.schema, 1))); one > 0 {
		count = max(1, min(count, stored/one/2))
	}
	return m.changed(o, at, m.items(at.schema, count))
}

// references refers to Secrets and ConfigMaps that do not exist, have invalid names or contain unexpected data.
func (m *maker) references() Manifest {
	o := m.base()
	at, ok := m.pick(func(s *schema) bool {
		_, key := s.Properties["key"]
		_, name := s.Properties["name"]
		return key && name && len(s.Properties) <= 3
	})
	if !ok {
		return m.mutated(o)
	}
	name := fmt.Sprintf("secret-%d", m.index)
	key := oneOf(m, "password", strings.Repeat("k", 253), "..data", "a.b_c-d")
	m.with = append(m.with, Manifest{
		"apiVersion": "v1", "kind": "Secret", "metadata": Manifest{"name": name, "namespace": m.namespace},
		"stringData": map[string]any{key: oneOf(m, m.oddString(), strings.Repeat("s", 500<<10), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")},
	})
	value := map[string]any{
		"name": oneOf(m, name, name, "gone", "a/b", "..", "UPPER", strings.Repeat("s", 253), ""),
		"key":  oneOf(m, key, key, "gone", "a/b", "..", ""),
	}
	return m.changed(o, at, value)
}
