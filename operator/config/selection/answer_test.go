package selection

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func TestExplainNamesTheFirstReason(t *testing.T) {
	matching := func(pairs ...string) *metav1.LabelSelector {
		out := &metav1.LabelSelector{}
		for i := 0; i+1 < len(pairs); i += 2 {
			metav1.AddLabelToSelector(out, pairs[i], pairs[i+1])
		}
		return out
	}
	const name = "kubernetes.io/metadata.name"
	subject := func(unknown bool, namespaceLabels labels.Set) Subject {
		return Subject{Kind: "PodMonitor", Namespace: "app", Labels: labels.Set{"team": "a"}, NamespaceLabels: namespaceLabels, NamespaceUnknown: unknown}
	}
	nameOnly := labels.Set{name: "app"}
	for title, tc := range map[string]struct {
		namespaces, objects *metav1.LabelSelector
		of                  Subject
		reason              Reason
		says                string
	}{
		"selected":                            {matching(), matching("team", "a"), subject(false, nil), Selected, ""},
		"no selector":                         {matching(), nil, subject(false, nil), NoSelector, "spec.xSelector is not set, so it selects no PodMonitor ({} selects all)"},
		"another namespace":                   {nil, matching(), subject(false, nil), NamespaceNotSelected, "selects namespace own only"},
		"labels of the namespace":             {matching("mon", "on"), matching(), subject(false, labels.Set{"mon": "off"}), NamespaceNotSelected, `mon=on, but mon is "off"`},
		"labels":                              {matching(), matching("team", "b"), subject(false, nil), LabelsNotSelected, `team=b, but team is "a"`},
		"unknown namespace":                   {matching("mon", "on"), matching(), subject(true, nameOnly), NamespaceUnknown, "labels of namespace app are not known"},
		"unknown namespace, named":            {matching(name, "app"), matching(), subject(true, nameOnly), Selected, ""},
		"unknown namespace, another is named": {matching(name, "other", "mon", "on"), matching(), subject(true, nameOnly), NamespaceNotSelected, `kubernetes.io/metadata.name is "app"`},
		"unknown namespace, all of them":      {matching(), matching(), subject(true, nameOnly), Selected, ""},
		"unknown namespace, other labels":     {matching("mon", "on"), matching("team", "b"), subject(true, nameOnly), LabelsNotSelected, `team=b`},
		"unknown namespace, own only":         {nil, matching(), subject(true, nameOnly), NamespaceNotSelected, "own only"},
	} {
		t.Run(title, func(t *testing.T) {
			got := rule(t, "own", tc.namespaces, tc.objects).Explain(tc.of, "x")
			text := got.Message
			for _, m := range got.Misses {
				text += "; " + m.String()
			}
			if got.Reason != tc.reason || !strings.Contains(text, tc.says) {
				t.Errorf("%q: %s", got.Reason, text)
			}
		})
	}
}

// A rule that never selects has the reason of its workload, and is not mixed up with one whose selector is not set.
func TestNever(t *testing.T) {
	unset := rule(t, "own", nil, nil)
	never := unset.Never("has a pod on each node")
	got := never.Explain(Subject{Kind: "Probe", Namespace: "own"}, "probe")
	if got.Reason != NoSelector || got.Message != "has a pod on each node" || got.Selector != "spec.probeSelector" {
		t.Errorf("got %+v", got)
	}
	if never.Key() == unset.Key() || unset.Never("").Key() != unset.Key() {
		t.Error("the keys do not tell the reasons apart")
	}
}
