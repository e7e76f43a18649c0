package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

func claim(name, size string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if size != "" {
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	}
	return c
}

// claiming returns a StatefulSet with one claim template.
func claiming(size string) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "prometheus-k8s", Annotations: map[string]string{wellknown.AnnotationInputHash: "1"}}}
	s.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{*claim("db", size)}
	return s
}

func TestClaims(t *testing.T) {
	const larger, unbound = "larger", "unbound"
	for name, tc := range map[string]struct {
		want   string            // size of the template
		claims map[string]string // name: size, and "Pending" or "deleted" unless it is bound
		grow   []string
		said   string // larger or unbound
		about  string // the claims that the message names
	}{
		"nothing changed":                      {"2Gi", map[string]string{"db-prometheus-k8s-0": "2Gi"}, nil, "", ""},
		"no claim yet":                         {"2Gi", nil, nil, "", ""},
		"more storage":                         {"3Gi", map[string]string{"db-prometheus-k8s-0": "2Gi", "db-prometheus-k8s-1": "2Gi"}, []string{"db-prometheus-k8s-0 2Gi 3Gi", "db-prometheus-k8s-1 2Gi 3Gi"}, "", ""},
		"one has grown already":                {"3Gi", map[string]string{"db-prometheus-k8s-0": "3Gi", "db-prometheus-k8s-1": "2Gi"}, []string{"db-prometheus-k8s-1 2Gi 3Gi"}, "", ""},
		"equal in another unit":                {"2048Mi", map[string]string{"db-prometheus-k8s-0": "2Gi"}, nil, "", ""},
		"another shard, another volume":        {"3Gi", map[string]string{"db-prometheus-k8s-shard-1-0": "2Gi", "tmp-prometheus-k8s-0": "2Gi", "db-prometheus-k8s-x": "1Gi"}, nil, "", ""},
		"less storage":                         {"1Gi", map[string]string{"db-prometheus-k8s-1": "2Gi", "db-prometheus-k8s-0": "3Gi"}, nil, larger, "db-prometheus-k8s-0 (3Gi), db-prometheus-k8s-1 (2Gi)."},
		"less storage, one is deleted":         {"1Gi", map[string]string{"db-prometheus-k8s-0": "2Gi deleted", "db-prometheus-k8s-1": "1Gi"}, nil, "", ""},
		"less than was ever there":             {"1Gi", map[string]string{"db-prometheus-k8s-0": "10Ti Pending"}, nil, unbound, "db-prometheus-k8s-0 (10Ti)."},
		"more, before it is bound":             {"3Gi", map[string]string{"db-prometheus-k8s-0": "2Gi Pending", "db-prometheus-k8s-1": "2Gi"}, []string{"db-prometheus-k8s-1 2Gi 3Gi"}, unbound, "db-prometheus-k8s-0 (2Gi)."},
		"not bound, of the right size":         {"3Gi", map[string]string{"db-prometheus-k8s-0": "3Gi Pending"}, nil, "", ""},
		"many":                                 {"1Gi", map[string]string{"db-prometheus-k8s-0": "2Gi", "db-prometheus-k8s-1": "2Gi", "db-prometheus-k8s-2": "2Gi", "db-prometheus-k8s-3": "2Gi", "db-prometheus-k8s-4": "2Gi", "db-prometheus-k8s-5": "2Gi"}, nil, larger, "db-prometheus-k8s-4 (2Gi) and 1 more."},
		"no size asked for":                    {"", map[string]string{"db-prometheus-k8s-0": "2Gi"}, nil, "", ""},
		"a claim that asks for nothing at all": {"3Gi", map[string]string{"db-prometheus-k8s-0": ""}, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := claiming(tc.want)
			before := want.DeepCopy()
			var claims []*corev1.PersistentVolumeClaim
			for name, text := range tc.claims {
				size, state, _ := strings.Cut(text, " ")
				c := claim(name, size)
				switch state {
				case "":
					c.Status.Phase = corev1.ClaimBound
				case "deleted":
					c.Status.Phase, c.DeletionTimestamp = corev1.ClaimBound, new(metav1.Now())
				default:
					c.Status.Phase = corev1.PersistentVolumeClaimPhase(state)
				}
				claims = append(claims, c)
			}
			var plan Plan
			plan.claims(want, claims)
			var got []string
			for _, g := range plan.growths {
				got = append(got, g.Claim+" "+g.From.String()+" "+g.To.String())
			}
			if diff := cmp.Diff(tc.grow, got); diff != "" {
				t.Errorf("growths: %s", diff)
			}
			if diff := cmp.Diff(before, want); diff != "" {
				t.Errorf("the template is not written as it is wanted: %s", diff)
			}
			for kind, said := range map[string][]string{larger: plan.larger, unbound: plan.unbound} {
				text := strings.Join(said, "; ")
				if kind == tc.said && !strings.Contains(text, tc.about) || kind != tc.said && text != "" {
					t.Errorf("%s: %q, want %q about %q", kind, text, tc.said, tc.about)
				}
			}
		})
	}
}

// If a claim cannot grow, the StatefulSet is written with its old size and all other changes, and
// again once the claim can grow.
func TestKeepSize(t *testing.T) {
	sized := func(name, size, hash string) *appsv1.StatefulSet {
		s := claiming(size)
		s.Name, s.Annotations[wellknown.AnnotationInputHash] = name, hash
		return s
	}
	kept := func(hash string, size string) (string, string) {
		want := sized("prometheus-k8s", size, hash)
		other := sized("prometheus-k8s-shard-1", size, hash)
		steps := []apply.Step{{Verb: apply.Put, Object: want}, {Verb: apply.Put, Object: other}}
		live := map[string]*appsv1.StatefulSet{"prometheus-k8s": claiming("2Gi")}
		names := []string{"prometheus-k8s", "prometheus-k8s", "prometheus-k8s-shard-2"} // one for each of its claims
		before := want.DeepCopy()
		written := keepSizes(steps, live, names)
		if diff := cmp.Diff(before, want); diff != "" {
			t.Errorf("the plan is changed: %s", diff)
		}
		want, other = written[0].Object.(*appsv1.StatefulSet), written[1].Object.(*appsv1.StatefulSet)
		if q, _ := storageOf(&other.Spec.VolumeClaimTemplates[0]); q.String() != size || other.Annotations[wellknown.AnnotationInputHash] != hash {
			t.Errorf("the other shard: size %s", q.String())
		}
		q, _ := storageOf(&want.Spec.VolumeClaimTemplates[0])
		return want.Annotations[wellknown.AnnotationInputHash], q.String()
	}
	one, size := kept("1", "3Gi")
	again, _ := kept("1", "3Gi")
	changed, _ := kept("2", "3Gi")
	if size != "2Gi" || one == "1" {
		t.Errorf("size %s, hash %q: it would not be written again once the claim has grown", size, one)
	}
	if one != again || one == changed {
		t.Errorf("hashes %q, %q, and %q after another change, which must be written", one, again, changed)
	}
	if _, size := kept("1", "1Gi"); size != "1Gi" {
		t.Errorf("less than there is: size %s", size)
	}
}
