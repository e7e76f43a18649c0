package prometheus

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

func claim(name, size string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if size != "" {
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	}
	return c
}

// claiming is a StatefulSet with one claim template.
func claiming(size string) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "prometheus-k8s", Annotations: map[string]string{workload.AnnotationInputHash: "1"}}}
	s.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{*claim("db", size)}
	return s
}

func TestClaims(t *testing.T) {
	for name, tc := range map[string]struct {
		want, live string // sizes of the templates; live "" means no StatefulSet
		claims     map[string]string
		grow       []string
		size       string // of the template to write
		refused    string
	}{
		"nothing changed":                      {"2Gi", "2Gi", map[string]string{"db-prometheus-k8s-0": "2Gi"}, nil, "2Gi", ""},
		"more storage":                         {"3Gi", "2Gi", map[string]string{"db-prometheus-k8s-0": "2Gi", "db-prometheus-k8s-1": "2Gi"}, []string{"db-prometheus-k8s-0 2Gi 3Gi", "db-prometheus-k8s-1 2Gi 3Gi"}, "3Gi", ""},
		"one has grown already":                {"3Gi", "2Gi", map[string]string{"db-prometheus-k8s-0": "3Gi", "db-prometheus-k8s-1": "2Gi"}, []string{"db-prometheus-k8s-1 2Gi 3Gi"}, "3Gi", ""},
		"a claim is larger by hand":            {"3Gi", "2Gi", map[string]string{"db-prometheus-k8s-0": "5Gi"}, nil, "3Gi", ""},
		"the StatefulSet was made again":       {"3Gi", "3Gi", map[string]string{"db-prometheus-k8s-0": "2Gi"}, []string{"db-prometheus-k8s-0 2Gi 3Gi"}, "3Gi", ""},
		"it is gone, its claims are not":       {"3Gi", "", map[string]string{"db-prometheus-k8s-0": "2Gi"}, []string{"db-prometheus-k8s-0 2Gi 3Gi"}, "3Gi", ""},
		"equal in another unit":                {"2048Mi", "2Gi", map[string]string{"db-prometheus-k8s-0": "2Gi"}, nil, "2048Mi", ""},
		"another shard, another volume":        {"3Gi", "2Gi", map[string]string{"db-prometheus-k8s-shard-1-0": "2Gi", "tmp-prometheus-k8s-0": "2Gi", "db-prometheus-k8s-x": "1Gi"}, nil, "3Gi", ""},
		"less storage":                         {"1Gi", "2Gi", map[string]string{"db-prometheus-k8s-0": "2Gi"}, nil, "2Gi", "spec.storage.volumeClaimTemplate.spec.resources.requests.storage: 1Gi is less than the 2Gi that StatefulSet prometheus-k8s has, and volumes cannot shrink"},
		"less storage, a claim that lags":      {"1Gi", "3Gi", map[string]string{"db-prometheus-k8s-0": "2Gi"}, []string{"db-prometheus-k8s-0 2Gi 3Gi"}, "3Gi", "spec.storage.volumeClaimTemplate.spec.resources.requests.storage: 1Gi is less than the 3Gi that StatefulSet prometheus-k8s has, and volumes cannot shrink"},
		"no size asked for":                    {"", "2Gi", map[string]string{"db-prometheus-k8s-0": "2Gi"}, nil, "", ""},
		"a claim that asks for nothing at all": {"3Gi", "2Gi", map[string]string{"db-prometheus-k8s-0": ""}, nil, "3Gi", ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := claiming(tc.want)
			var live *appsv1.StatefulSet
			if tc.live != "" {
				live = claiming(tc.live)
			}
			var claims []*corev1.PersistentVolumeClaim
			for name, size := range tc.claims {
				claims = append(claims, claim(name, size))
			}
			var plan Plan
			plan.claims(want, live, claims)
			var got []string
			for _, g := range plan.Growths {
				got = append(got, g.Claim+" "+g.From.String()+" "+g.To.String())
			}
			if diff := cmp.Diff(tc.grow, got); diff != "" {
				t.Errorf("growths: %s", diff)
			}
			size := ""
			if q, ok := storageOf(&want.Spec.VolumeClaimTemplates[0]); ok {
				size = q.String()
			}
			if q := resource.MustParse("2048Mi"); tc.size == "2048Mi" {
				tc.size = q.String()
			}
			if size != tc.size {
				t.Errorf("template asks for %s, want %s", size, tc.size)
			}
			var refused string
			if len(plan.Refused) > 0 {
				refused = plan.Refused[0]
			}
			if refused != tc.refused {
				t.Errorf("refused %q, want %q", refused, tc.refused)
			}
		})
	}
}

// Where a claim cannot grow, the StatefulSet is written with the size it has,
// and again when the claim could.
func TestKeepSize(t *testing.T) {
	want, other := claiming("3Gi"), claiming("3Gi")
	other.Name = "prometheus-k8s-shard-1"
	plan := Plan{Workload: []apply.Step{{Verb: apply.Put, Object: want}, {Verb: apply.Put, Object: other}}}
	plan.keepSize(claiming("2Gi"))
	plan.keepSize(nil)
	if size, _ := storageOf(&want.Spec.VolumeClaimTemplates[0]); size.String() != "2Gi" || want.Annotations[workload.AnnotationInputHash] != "" {
		t.Errorf("size %s, hash %q", size.String(), want.Annotations[workload.AnnotationInputHash])
	}
	if size, _ := storageOf(&other.Spec.VolumeClaimTemplates[0]); size.String() != "3Gi" || other.Annotations[workload.AnnotationInputHash] != "1" {
		t.Errorf("the other shard: size %s", size.String())
	}
}
