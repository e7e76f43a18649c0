package rules

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// Buckets returns the live ConfigMaps of a workload, without those controlled by other objects. live are trimmed by
// [apply.DigestConfigMap].
func Buckets(live []*corev1.ConfigMap, workload types.UID) []Bucket {
	var out []Bucket
	for _, m := range live {
		if owner := metav1.GetControllerOf(m); owner == nil || owner.UID == workload {
			out = append(out, Bucket{Name: m.Name, Files: m.Data})
		}
	}
	return out
}

// Writes holds the cluster writes of a plan.
type Writes struct {
	// Giving must be written before Plan.Overflow, Taking after it: these steps remove files.
	Giving, Taking []apply.Step
	// Files holds the digests of the files of every ConfigMap after all writes.
	Files map[string]map[string]string
}

// Writes returns the cluster writes of the plan, which must have been made for live.
// ConfigMaps with unchanged files are included, so that other changes to them are
// reverted. meta returns the metadata of a ConfigMap of the workload, contents the files.
func (p *Plan) Writes(live []Bucket, meta func(name string) metav1.ObjectMeta, contents func() map[string]Content) Writes {
	out := Writes{Files: map[string]map[string]string{}}
	for _, b := range live {
		if slices.Contains(p.Names, b.Name) { // neither foreign nor deleted
			out.Files[b.Name] = b.Files
		}
	}
	object := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta(name)}
	}
	put := func(name string, digests map[string]string) apply.Step {
		return apply.PutConfigMap(object(name), digests, func() map[string]apply.Value {
			values, all := make(map[string]apply.Value, len(digests)), contents()
			for file := range digests {
				values[file] = all[file]
			}
			return values
		})
	}
	kept := maps.Clone(out.Files)
	for i, s := range p.Steps {
		delete(kept, s.Name)
		var next apply.Step
		if s.Verb == Delete {
			next = apply.Step{Verb: apply.Remove, Object: object(s.Name)}
		} else {
			next = put(s.Name, s.Files)
			out.Files[s.Name] = s.Files
		}
		if i < p.Late {
			out.Giving = append(out.Giving, next)
		} else {
			out.Taking = append(out.Taking, next)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		out.Giving = append(out.Giving, put(name, kept[name]))
	}
	return out
}
