package manifest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestDecode(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string // lines of the error
	}{
		"all known":           {"spec: {selector: {}, endpoints: [{interval: 1s, targetPort: 80}]}", nil},
		"null is not a fault": {"spec: {selector: {}, endpoints: null}", nil},
		"JSON":                {`{"spec": {"endpoints": [{"interval": "1s"}]}}`, nil},
		"flow style YAML":     {`{spec: {endpoints: [{interval: 1s}]}}`, nil},
		"free-form keys are not fields": {
			"metadata: {labels: {anything: x}}\nspec: {endpoints: [{params: {module: [a]}}]}", nil},
		"one letter too many": {"spec: {endpoints: [{intervall: 1s}]}",
			[]string{`spec.endpoints[0].intervall: unknown field, did you mean "interval"?`}},
		"swapped letters": {"spec: {endpoints: [{}, {ineterval: 1s}]}",
			[]string{`spec.endpoints[1].ineterval: unknown field, did you mean "interval"?`}},
		"letter case": {"spec: {endpoints: [{Interval: 1s}]}",
			[]string{`spec.endpoints[0].Interval: unknown field, did you mean "interval"?`}},
		"inlined fields are candidates": {"spec: {endpoints: [{noproxy: a}]}",
			[]string{`spec.endpoints[0].noproxy: unknown field, did you mean "noProxy"?`}},
		"a word too few": {"spec: {endpoints: [{tls: {}, scrape: {}}]}",
			[]string{`spec.endpoints[0].scrape: unknown field`, `spec.endpoints[0].tls: unknown field, did you mean "tlsConfig"?`}},
		"nothing similar": {"spec: {endpoints: [{frequency: 1s}]}",
			[]string{`spec.endpoints[0].frequency: unknown field`}},
		"the similar one is there already": {"spec: {endpoints: [{interval: 1s, intervals: 2s}]}",
			[]string{`spec.endpoints[0].intervals: unknown field: interval is set too: remove this one`}},
		"a key that looks like a path": {"spec: {endpoints: [{a.b: 1s}]}",
			[]string{`spec.endpoints[0]["a.b"]: unknown field`}},
		"in a Kubernetes type": {"spec: {selector: {matchLabel: {a: b}}}",
			[]string{`spec.selector.matchLabel: unknown field, did you mean "matchLabels"?`}},
		"all faults, by path": {"spec: {sampleLimit: many, endpoints: {}, selctor: {}}\nmetdata: {}",
			[]string{
				`metdata: unknown field, did you mean "metadata"?`,
				`spec.endpoints: want a list, got an object`,
				`spec.sampleLimit: want an integer, got a string`,
				`spec.selctor: unknown field, did you mean "selector"?`,
			}},
		"not an integer": {"spec: {sampleLimit: 1.5}",
			[]string{`spec.sampleLimit: want an integer, got a number`}},
		"an integer that is too large": {"spec: {endpoints: [{targetPort: 3000000000}]}",
			[]string{`spec.endpoints[0].targetPort: want an integer from 0 to 2147483647, or a string`}},
		"a type that reads itself": {"metadata: {creationTimestamp: soon}\nspec: {endpoints: [{targetPort: 80}, {targetPort: true}]}",
			[]string{"metadata.creationTimestamp: want a time such as 2006-01-02T15:04:05Z", "spec.endpoints[1].targetPort: want an integer or a string, got true or false"}},
		"not a document": {"spec",
			[]string{`want an object, got a string`}},
		"twice in YAML": {"spec: {}\nspec: {}",
			[]string{`yaml: unmarshal errors:`, `  line 2: key "spec" already set in map`}},
		"twice in JSON": {`{"spec": {"sampleLimit": 1, "sampleLimit": 2}}`,
			[]string{`spec.sampleLimit: duplicate field`}},
		"broken YAML": {"spec: [", []string{"yaml: line 1: did not find expected node content"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := manifest.Decode([]byte(tc.text), &v1.ServiceMonitor{}); err != nil {
				got = err.Error()
			}
			if want := strings.Join(tc.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// The range of an integer begins at zero where negative ones make no sense, although the type has them.
func TestRangeOfIntegers(t *testing.T) {
	for text, want := range map[string]string{
		"spec: {replicas: 3000000000}":  "spec.replicas: want an integer from 0 to 2147483647",
		"spec: {replicas: -3000000000}": "spec.replicas: want an integer from 0 to 2147483647",
		"spec: {replicas: -1}":          "<nil>", // counts as 1
		"spec: {sampleLimit: -1}":       "spec.sampleLimit: want an integer from 0 to 18446744073709551615",
	} {
		if err := manifest.Decode([]byte(text), &v1.Prometheus{}); fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A valid document is decoded into the struct.
func TestValueIsRead(t *testing.T) {
	var m v1.ServiceMonitor
	if err := manifest.Decode([]byte("spec: {endpoints: [{interval: 3s}]}"), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Spec.Endpoints) != 1 || m.Spec.Endpoints[0].Interval != "3s" {
		t.Errorf("read %+v", m.Spec.Endpoints)
	}
}

// Unknown fields are ignored, even if another field has an error.
func TestDecodeKnown(t *testing.T) {
	for text, want := range map[string]string{
		`{"spec":{"endpoints":[{"interval":"3s","newer":1}],"newer":{}}}`:     "",
		`{"spec":{"endpoints":[{"interval":3,"newer":1}],"sampleLimit":"x"}}`: "spec.endpoints[0].interval: want a string, got an integer\nspec.sampleLimit: want an integer, got a string",
		`{"metadata":{"annotations":{"a.b/c":true}},"spec":{}}`:               `metadata.annotations["a.b/c"]: want a string, got true or false`,
		`{"spec":{"endpoints":[{"targetPort":[1]}]}}`:                         "spec.endpoints[0].targetPort: want an integer or a string, got a list",
		`{"spec":`: "unexpected end of JSON input",
		`[]`:       "want an object, got a list",
		`{"spec":{"sampleLimit":99999999999999999999999}}`:                      "spec.sampleLimit: want an integer, got a number",
		`{"metadata":{"creationTimestamp":null},"spec":{"endpoints":[{}, {}]}}`: "",
	} {
		var m v1.ServiceMonitor
		got := ""
		if err := manifest.DecodeKnown([]byte(text), &m); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
		}
	}
}

// Error messages name fields and never contain values.
func TestNoValues(t *testing.T) {
	for _, text := range []string{
		"stringData: {password: {hunter2: x}}",
		"data: {password: [hunter2]}",
		"data: {password: hunter2}",
		"dta: {password: hunter2}",
		`{"data": "hunter2"}`,
	} {
		err := manifest.Decode([]byte(text), &corev1.Secret{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Strict decoding accepts nothing that lenient decoding rejects, and the accepted
// documents do not depend on the notation.
func FuzzDecode(f *testing.F) {
	f.Add("spec: {selector: {}, endpoints: [{interval: 1s}]}")
	f.Add(`{"spec": {"endpoints": [{"intervall": "1s"}]}}`)
	f.Add("metadata: {labels: {a: b}, creationTimestamp: null}")
	f.Add("spec: {nativeHistogramMinBucketFactor: 1.5, endpoints: [{targetPort: x}]}")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		var m v1.ServiceMonitor
		if manifest.Decode([]byte(text), &m) != nil {
			return
		}
		if err := yaml.Unmarshal([]byte(text), &v1.ServiceMonitor{}); err != nil {
			t.Fatalf("lenient reading refuses it: %v", err)
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := manifest.Decode(again, &v1.ServiceMonitor{}); err != nil {
			t.Fatalf("what was read is refused: %v\n%s", err, again)
		}
	})
}
