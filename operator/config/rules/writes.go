package rules

import (
	"crypto/sha256"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// Buckets returns the live ConfigMaps of a workload, without those controlled by other objects.
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
	// Files holds the files of every ConfigMap after all writes.
	Files map[string]map[string]string
}

// Writes returns the cluster writes of the plan, which must have been made for live.
// ConfigMaps with unchanged files are included, so that other changes to them are
// reverted. meta returns the metadata of a ConfigMap of the workload. sums are the checksums of the files.
func (p *Plan) Writes(live []Bucket, meta func(name string) metav1.ObjectMeta, sums map[string][sha256.Size]byte) Writes {
	out := Writes{Files: map[string]map[string]string{}}
	for _, b := range live {
		if slices.Contains(p.Names, b.Name) { // neither foreign nor deleted
			out.Files[b.Name] = b.Files
		}
	}
	object := func(name string, files map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta(name), Data: files}
	}
	kept := maps.Clone(out.Files)
	for i, s := range p.Steps {
		delete(kept, s.Name)
		var next apply.Step
		if s.Verb == Delete {
			next = apply.Step{Verb: apply.Remove, Object: object(s.Name, nil)}
		} else {
			next = apply.PutConfigMap(object(s.Name, s.Files), sums)
			out.Files[s.Name] = s.Files
		}
		if i < p.Late {
			out.Giving = append(out.Giving, next)
		} else {
			out.Taking = append(out.Taking, next)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		out.Giving = append(out.Giving, apply.Step{Verb: apply.Put, Object: object(name, kept[name])})
	}
	return out
}
