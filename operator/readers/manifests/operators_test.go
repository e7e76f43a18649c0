package manifests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An operator is recognized by its image or by flags that nothing else has, and variables in its
// arguments have the values that the kubelet would give them.
func TestOperators(t *testing.T) {
	for container, want := range map[string][]string{
		`{image: "registry:5000/prometheus-operator/prometheus-operator:v0.93.0@sha256:ab", args: [--namespaces=a]}`: {"--namespaces=a"},
		`{image: "firekeeper/operator:v1", command: [/operator, start], args: [--namespaces=a]}`:                     {"start", "--namespaces=a"},
		`{image: "mirror/monitoring:v1", args: ["--prometheus-config-reloader=x"]}`:                                  {"--prometheus-config-reloader=x"},
		`{image: "firekeeper/operator", args: [--namespaces=$(NS), --labels=$(NONE), --kubelet-service=$(A)/$(NS)], env: [{name: A, value: a}, {name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]}`: {
			"--namespaces=demo", "--kubelet-service=a/demo",
		},
		`{image: "firekeeper/operator:v1", args: [admission-webhook, --web.enable-tls]}`:             nil,
		`{image: "other/operator:v1", args: [--namespaces=a]}`:                                       nil,
		`{image: "firekeeper/operator-docs:v1"}`:                                                     nil,
		`{image: "busybox", command: [sh], args: ["--", "echo --prometheus-config-reloader is ok"]}`: nil,
	} {
		text := fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: op, namespace: demo}, spec: {template: {spec: {containers: [{image: proxy, args: [--namespaces=other]}, %s]}}}}", container)
		objects, wrong := Read("a.yaml", []byte(text), kinds())
		if len(wrong) > 0 {
			t.Fatalf("%s: %v", container, wrong)
		}
		var got []string
		for _, o := range objects.Operators("start") {
			if o.Deployment != "demo/op" {
				t.Errorf("Deployment %s", o.Deployment)
			}
			got = o.Args
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", strings.TrimSpace(container), diff)
		}
	}
}
