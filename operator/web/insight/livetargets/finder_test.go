package livetargets

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// A finder waits for the initial list, but not for resources that are forbidden, and only until its
// timeout.
func TestFinder(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		until := make(chan struct{})
		b.api.Delay("pods", until)
		b.api.Deny("services", true)
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		f := Finder{Groups: b.Groups, Denied: "grant it", Patience: 3 * time.Second}
		pods := func(namespace string) targets.Job {
			return targets.Job{Discoveries: targets.Discoveries{Kubernetes: []targets.KubernetesSD{{Role: "pod", Namespaces: targets.Namespaces{Names: []string{namespace}}}}}}
		}
		services := targets.Job{Discoveries: targets.Discoveries{Kubernetes: []targets.KubernetesSD{{Role: "service"}}}}
		jobs := []targets.Job{pods("demo"), services, pods("none"), pods("demo")}
		for _, delayed := range []bool{true, false} {
			began := time.Now()
			if !delayed {
				close(until)
			}
			found, _, err := f.Find(t.Context(), jobs, &preview.Workload{Ref: main})
			if err != nil || len(found) != 4 {
				t.Fatal(found, err)
			}
			for i, groups := range []int{1, 0, 0, 1} {
				if delayed {
					groups = 0
				}
				known := i != 1 && !delayed
				if len(found[i].Groups) != groups || (len(found[i].Gaps) == 0) != known {
					t.Errorf("delayed %v, job %d: %d groups, gaps %v", delayed, i, len(found[i].Groups), found[i].Gaps)
				}
			}
			if gaps := found[1].Gaps; len(gaps) != 1 || !strings.HasSuffix(gaps[0].Message, "no permission to list services in all namespaces; grant it") {
				t.Errorf("%+v", gaps)
			}
			if took := time.Since(began); took > 4*time.Second || (took >= 3*time.Second) != delayed {
				t.Errorf("delayed %v: it took %s", delayed, took)
			}
		}
		f.Applied = &discovery.Objects{}
		f.Applied.Add(pod("demo", "web-1", "web", 2))
		found, _, err := f.Find(t.Context(), jobs, &preview.Workload{Ref: main})
		if err != nil || len(found[0].Groups) != 2 || len(found[0].Gaps) != 0 {
			t.Errorf("with a pod among the manifests: %d groups, gaps %v, %v", len(found[0].Groups), found[0].Gaps, err)
		}
	})
}

// Jobs with the same discoveries share the result, and the number of distinct views is limited.
func TestFinderIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		for i := range 100 {
			b.api.Kind("pods").Add(pod("demo", fmt.Sprintf("web-%d", i), "web", i+1))
		}
		f := Finder{Groups: b.Groups, Patience: 3 * time.Second}
		several := []targets.KubernetesSD{{Role: "pod"}, {Role: "pod", Namespaces: targets.Namespaces{Names: []string{"demo"}}}}
		var jobs []targets.Job
		for range 10 {
			jobs = append(jobs, targets.Job{Discoveries: targets.Discoveries{Kubernetes: several}}, targets.Job{Discoveries: targets.Discoveries{Kubernetes: several[:1]}})
		}
		found, _, err := f.Find(t.Context(), jobs, &preview.Workload{Ref: main})
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			if n := len(found[i].Groups); n != []int{200, 100}[i%2] || &found[i].Groups[0] != &found[i%2].Groups[0] {
				t.Errorf("job %d has %d groups of its own", i, n)
			}
		}
		var many []targets.Job
		for i := range maxViews + 1 {
			many = append(many, targets.Job{Discoveries: targets.Discoveries{Kubernetes: []targets.KubernetesSD{{Role: "pod", Selectors: []targets.Selector{{Role: "pod", Label: fmt.Sprintf("app!=x%d", i)}}}}}})
		}
		if _, _, err := f.Find(t.Context(), many, &preview.Workload{Ref: main}); err == nil || !strings.Contains(err.Error(), "more than 50 ways") {
			t.Errorf("got %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := f.Find(gone, jobs, &preview.Workload{Ref: main}); err == nil {
			t.Error("a caller that has gone gets an answer")
		}
	})
}
