package rules

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// Buckets are the live ConfigMaps of a workload, without those that somebody else
// controls.
func Buckets(live []*corev1.ConfigMap, workload types.UID) []Bucket {
	var out []Bucket
	for _, m := range live {
		if owner := metav1.GetControllerOf(m); owner == nil || owner.UID == workload {
			out = append(out, Bucket{Name: m.Name, Files: m.Data})
		}
	}
	return out
}

// Writes is a plan as writes to the cluster.
type Writes struct {
	// Giving is to be written before Plan.Overflow is, Taking after it: these steps
	// take files away.
	Giving, Taking []apply.Step
	// Files are those of every ConfigMap when all is written.
	Files map[string]map[string]string
}

// Writes returns the writes that follow the plan, which was made for live.
// ConfigMaps that keep their files are wanted too: what else was changed about
// them is undone. meta is what a ConfigMap of the workload has beside its files.
func (p *Plan) Writes(live []Bucket, meta func(name string) metav1.ObjectMeta) Writes {
	out := Writes{Files: map[string]map[string]string{}}
	for _, b := range live {
		if slices.Contains(p.Names, b.Name) { // neither foreign nor deleted
			out.Files[b.Name] = b.Files
		}
	}
	step := func(verb apply.Verb, name string, files map[string]string) apply.Step {
		return apply.Step{Verb: verb, Object: &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta(name), Data: files,
		}}
	}
	kept := maps.Clone(out.Files)
	for i, s := range p.Steps {
		delete(kept, s.Name)
		next := step(apply.Put, s.Name, s.Files)
		if s.Verb == Delete {
			next = step(apply.Remove, s.Name, nil)
		} else {
			out.Files[s.Name] = s.Files
		}
		if i < p.Late {
			out.Giving = append(out.Giving, next)
		} else {
			out.Taking = append(out.Taking, next)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		out.Giving = append(out.Giving, step(apply.Put, name, kept[name]))
	}
	return out
}
