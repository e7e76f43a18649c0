package lister

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

func TestDefaultServiceAccount(t *testing.T) {
	s := &discoverytest.Server{Lacks: []string{"list /pods"}}
	got, err := start(t, s).Find(t.Context(), jobs(t, kubernetesSD("{role: pod}")), Workload{Namespace: "monitoring"})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(lines(got.Found[0]), "\n"); !strings.Contains(text, "ServiceAccount monitoring/default may not list pods") {
		t.Error(text)
	}
}

// A ServiceAccount that may list a kind everywhere is not reviewed for each namespace: a ScrapeConfig can
// name thousands, and large clusters have hundreds.
func TestReviewsOfManyNamespaces(t *testing.T) {
	jobs := jobs(t, kubernetesSD("{role: endpointslice, namespaces: {names: [a, b, c, d, e]}}"))
	for _, tc := range []struct {
		lacks   []string
		reviews int // two verbs for three kinds
		gaps    int
	}{
		{nil, 6, 0},
		{[]string{"watch /pods"}, 6 + 5, 0},
		{[]string{"list /pods", "watch /pods", "list /services", "list c/pods"}, 6 + 15, 1},
	} {
		s := &discoverytest.Server{Lacks: tc.lacks}
		denials, notes := start(t, s).Denied(t.Context(), jobs, workload)
		_, gaps := denials.Allowed(&jobs[0].Kubernetes[0], "monitoring")
		if len(s.AccessReviews()) != tc.reviews || len(gaps) != tc.gaps || len(notes) > 0 {
			t.Errorf("lacks %q: %d reviews, gaps %v, notes %q", tc.lacks, len(s.AccessReviews()), gaps, notes)
		}
	}
}

// A tenant who names thousands of namespaces, whether they exist or not, does not delay the reviews of other tenants:
// those that do not exist are not reviewed, tenants take turns in a bounded number of reviews, and what is not reviewed
// yet is neither allowed nor an empty result.
func TestReviewsOfHostileNamespaces(t *testing.T) {
	const many = 2000
	var exist, not []string
	for i := range many {
		exist, not = append(exist, fmt.Sprintf("n%d", i)), append(not, fmt.Sprintf("none%d", i))
	}
	hostile, innocent := kubernetesSD("{role: pod, namespaces: {names: ["+strings.Join(append(not, exist...), ", ")+"]}}"), kubernetesSD("{role: pod, namespaces: {names: [demo, other]}}")
	read := func() []targets.Job {
		out := jobs(t, hostile, innocent)
		out[0].Name, out[1].Name = "scrapeConfig/hostile/a/0", "podMonitor/demo/web/0"
		return out
	}
	lacks := []string{"list /pods", "watch /pods", "watch other/pods"}
	for _, ns := range exist {
		lacks = append(lacks, "list "+ns+"/pods")
	}
	s := &discoverytest.Server{Lacks: lacks}
	w := workload
	w.Exists = func(ns string) bool { return !strings.HasPrefix(ns, "none") }
	c := start(t, s)
	all := read()
	began := time.Now()
	denials, notes := c.Denied(t.Context(), all, w)
	if n := len(s.AccessReviews()); n != maxReviews || len(notes) > 0 {
		t.Errorf("%d reviews, notes %q", n, notes)
	}
	left, gaps := denials.Allowed(&all[1].Kubernetes[0], w.Namespace)
	if left == nil || !slices.Equal(left.Namespaces.Names, []string{"demo"}) || len(gaps) != 1 || gaps[0].State != targets.Forbidden {
		t.Errorf("the other tenant has %v, gaps %v", left, gaps)
	}
	states := func(d Denials) map[targets.State]int {
		left, gaps := d.Allowed(&all[0].Kubernetes[0], w.Namespace)
		if left != nil {
			t.Errorf("allowed: %d namespaces", len(left.Namespaces.Names))
		}
		out, size := map[targets.State]int{}, 0
		for _, gap := range gaps {
			out[gap.State]++
			size += len(gap.Message)
		}
		if size > 10_000 {
			t.Errorf("%d bytes of messages", size)
		}
		return out
	}
	if got := states(denials); got[targets.Unknown] == 0 || got[targets.Forbidden] == 0 {
		t.Errorf("after the first reviews: %v", got)
	}
	again, _ := c.Denied(t.Context(), all, Workload{w.Namespace, w.ServiceAccount, w.Exists, denials})
	// The allowance grows while the test runs.
	if n, grown := len(s.AccessReviews())-maxReviews, maxReviews*time.Since(began).Seconds()/maxReviewsIn.Seconds(); float64(n) > grown {
		t.Errorf("%d more reviews at once, the allowance grew by %.1f", n, grown)
	}
	again.left = maxReviews
	again, _ = c.Denied(t.Context(), all, Workload{w.Namespace, w.ServiceAccount, w.Exists, again})
	again.left = maxReviews
	again, _ = c.Denied(t.Context(), all, Workload{w.Namespace, w.ServiceAccount, w.Exists, again})
	if got := states(again); got[targets.Unknown] != 0 {
		t.Errorf("in the end: %v", got)
	}
	if n := len(s.AccessReviews()); n != 2+2*(many+2) {
		t.Errorf("%d reviews for %d namespaces: some were repeated", n, many+2)
	}
	same, _ := c.Denied(t.Context(), all, Workload{w.Namespace, w.ServiceAccount, w.Exists, again})
	if !same.Same(again) || same.Same(denials) {
		t.Error("denials are compared wrongly")
	}
	if denials.Key(&all[1], w.Namespace) != again.Key(&all[1], w.Namespace) || denials.Key(&all[0], w.Namespace) == again.Key(&all[0], w.Namespace) {
		t.Error("the key of a job does not say what it may discover")
	}
}

// If a review fails, an earlier result is kept; without one, the permission counts as denied.
func TestFailedReviews(t *testing.T) {
	s := &discoverytest.Server{Lacks: []string{"list other/pods"}}
	c := start(t, s)
	before := jobs(t, kubernetesSD("{role: pod, namespaces: {names: [demo, other]}}"))
	denials, _ := c.Denied(t.Context(), before, workload)
	after := jobs(t, kubernetesSD("{role: pod, namespaces: {names: [demo, other, new]}}"))
	s.Reviews = "403 Forbidden"
	w := workload
	w.Before = denials
	denials, notes := c.Denied(t.Context(), after, w)
	left, gaps := denials.Allowed(&after[0].Kubernetes[0], w.Namespace)
	if len(notes) != 1 || left == nil || !slices.Equal(left.Namespaces.Names, []string{"demo"}) || len(gaps) != 2 {
		t.Errorf("notes %q, %v, gaps %v", notes, left, gaps)
	}
}
