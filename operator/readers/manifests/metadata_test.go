package manifests

import (
	"strings"
	"testing"
)

// What the API server would reject in names, labels and annotations is reported with its field, with
// what is valid and, where there is one, a similar name that is.
func TestMetadata(t *testing.T) {
	long := strings.Repeat("a", 64)
	for metadata, want := range map[string]string{
		"name: a.b-c, namespace: x, labels: {app: a, example.com/team: b_c.d-E}, annotations: {example.com/note: any text}": "",

		"name: My_Rules":                       `metadata.name: want a name of lower case letters, digits, - and . that begins and ends with a letter or digit; write my-rules`,
		"name: my rules":                       "; write my-rules",
		"name: team/rules":                     "; write team-rules",
		"name: -a-":                            "; write a",
		"name: 'ä'":                            "want a name of lower case letters, digits, - and .",
		"name: " + strings.Repeat(long, 4):     "metadata: name and namespace have at most 253 bytes",
		"name: a, namespace: x.y":              `metadata.namespace: want a name of lower case letters, digits and - that begins`,
		"name: a, namespace: Team":             "; write team",
		"name: a, namespace: " + long:          ", not of 64 characters",
		"name: a, labels: {app: a b}":          `metadata.labels["app"]: want a value of at most 63 letters`,
		"name: a, labels: {app: " + long + "}": `metadata.labels["app"]`,
		"name: a, labels: {my app: x}":         `metadata.labels["my app"]: want a name of at most 63 letters`,
		"name: a, labels: {A/B/C: x}":          `metadata.labels["A/B/C"]`,
		"name: a, annotations: {my note: x}":   `metadata.annotations["my note"]: want a name of at most 63 letters`,
		"namespace: x":                         "PodMonitor: metadata.name: is missing",
	} {
		t.Run(metadata[:min(len(metadata), 40)], func(t *testing.T) {
			_, wrong := Read("a.yaml", []byte("{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {"+metadata+"}, spec: {selector: {}, podMetricsEndpoints: [{port: a}]}}"), kinds())
			var got []string
			for _, err := range wrong {
				got = append(got, err.Err.Error())
			}
			if text := strings.Join(got, "\n"); want == "" && text != "" || !strings.Contains(text, want) {
				t.Errorf("got  %s\nwant %s", text, want)
			}
			if len(got) > 1 {
				t.Errorf("one fault is reported %d times: %q", len(got), got)
			}
		})
	}
}
