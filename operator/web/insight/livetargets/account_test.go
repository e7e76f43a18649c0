package livetargets

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
)

// reviewer responds to SubjectAccessReviews.
type reviewer struct {
	*fake.Clientset
	denies, fails atomic.Bool // listing pods in namespace other; every review
	reviews       atomic.Int32
	user          atomic.Value // the only user that may be reviewed
}

func newReviewer(t *testing.T) *reviewer {
	r := &reviewer{Clientset: fake.NewClientset()}
	r.user.Store("system:serviceaccount:monitoring:default")
	r.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		r.reviews.Add(1)
		if r.fails.Load() {
			return true, nil, errors.New("etcd is away")
		}
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		if user := review.Spec.User; user != r.user.Load() {
			t.Errorf("asks about %s", user)
		}
		a := review.Spec.ResourceAttributes
		review.Status.Allowed = !r.denies.Load() || a.Verb != "list" || a.Resource != "pods" || a.Namespace != "other"
		return true, review, nil
	})
	return r
}

// slow delays each review by a second.
type slow struct{ Permissions }

func (s slow) Denied(ctx context.Context, jobs []targets.Job, w lister.Workload) (lister.Denials, []string) {
	time.Sleep(time.Second)
	return s.Permissions.Denied(ctx, jobs, w)
}

// TestAdditionalJobs: jobs from a Secret are not shown to callers who may not read it.
func TestAdditionalJobs(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.cluster.secrets.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: "more"},
			Data: map[string][]byte{"jobs": []byte("[{job_name: canary-job, static_configs: [{targets: [canary-host], labels: {team: canary}}]}]")}})
		b.cluster.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.TrimSuffix(prometheusText, "}")+", additionalScrapeConfigs: {name: more, key: jobs}}"))
		settled(time.Second)
		text, err := json.Marshal(b.request(t, everything{}, all(ofMain)))
		if err != nil || strings.Contains(string(text), "canary") || !strings.Contains(string(text), "the jobs of spec.additionalScrapeConfigs are not shown") {
			t.Errorf("%v %s", err, text)
		}
	})
}

// TestServiceAccount: targets that the ServiceAccount of a workload may not discover are reported
// as forbidden and not as missing. The others are still found.
func TestServiceAccount(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		pods := b.api.Kind("pods")
		pods.Add(pod("demo", "web-0", "web", 1))
		pods.Add(pod("other", "web-1", "web", 2))
		who := newReviewer(t)
		who.denies.Store(true)
		b.Permissions = slow{lister.Cluster{Kube: who}}
		if got := b.request(t, everything{}, all(ofMain)); got.Synced {
			t.Errorf("before anybody has answered: %+v", got)
		}
		again := func() {
			time.Sleep(recheck)
			b.request(t, everything{}, all(ofMain))
			time.Sleep(5 * time.Second)
			synctest.Wait()
		}
		time.Sleep(5 * time.Second)
		const says = "ServiceAccount monitoring/default may not list pods in namespace other; allow it with a Role in that namespace"
		for _, fails := range []bool{false, true} {
			who.fails.Store(fails)
			if fails {
				again()
			}
			got := b.request(t, everything{}, all(ofMain))
			notes := strings.Join(got.Notes, "\n")
			if !got.Synced || got.Counts.Kept != 1 || got.Counts.Forbidden != 1 || !strings.Contains(notes, says) {
				t.Errorf("fails: %v: %+v %q", fails, got.Counts, got.Notes)
			}
			if strings.Contains(notes, b.Denied) || strings.Contains(notes, "etcd is away") != fails {
				t.Errorf("fails: %v: %q", fails, got.Notes)
			}
		}
		who.fails.Store(false)
		who.denies.Store(false)
		again()
		for range 10 {
			if got := b.request(t, everything{}, all(ofMain)); got.Counts.Kept != 2 || got.Counts.Forbidden != 0 || len(got.Notes) > 0 {
				t.Errorf("allowed: %+v %q", got.Counts, got.Notes)
			}
		}
		// Two reviews of two verbs in two namespaces, and those before the failure.
		if n := who.reviews.Load(); n < 9 || n > 12 {
			t.Errorf("%d reviews", n)
		}
	})
}

// TestPermissionsOfLongAgo: if the last review is old or was for another ServiceAccount, the first
// response is either correct or not synced.
func TestPermissionsOfLongAgo(t *testing.T) {
	for _, slowly := range []bool{false, true} {
		inBubble(t, func(t *testing.T, b *fixture) {
			b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
			b.api.Kind("pods").Add(pod("other", "web-1", "web", 2))
			who := newReviewer(t)
			who.denies.Store(true)
			b.Permissions = lister.Cluster{Kube: who}
			if slowly {
				b.Permissions = slow{b.Permissions}
			}
			check := func(what string, forbidden int) {
				t.Helper()
				got := b.request(t, everything{}, all(ofMain))
				if got.Synced == slowly || got.Synced && (got.Counts.Forbidden != forbidden || got.Counts.Kept != 2-forbidden) {
					t.Errorf("slowly %v, %s, first: synced %v, %+v %q", slowly, what, got.Synced, got.Counts, got.Notes)
				}
				settled(5 * time.Second)
				got = b.request(t, everything{}, all(ofMain))
				if !got.Synced || got.Counts.Forbidden != forbidden || got.Counts.Kept != 2-forbidden {
					t.Errorf("slowly %v, %s, then: synced %v, %+v %q", slowly, what, got.Synced, got.Counts, got.Notes)
				}
			}
			check("at the beginning", 1)
			settled(9 * time.Minute)
			who.denies.Store(false)
			check("when it was allowed", 0)
			settled(9 * time.Minute)
			who.denies.Store(true)
			check("when it was denied", 1)
			settled(time.Second)
			who.denies.Store(false)
			who.user.Store("system:serviceaccount:monitoring:new")
			b.cluster.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.TrimSuffix(prometheusText, "}")+", serviceAccountName: new}"))
			check("of another ServiceAccount", 0)
		})
	}
}
