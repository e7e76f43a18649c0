package livetargets

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
)

// TestPermitted: a preview finds only targets that the ServiceAccount of the workload may discover,
// as for existing workloads, and caches the reviews.
func TestPermitted(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		who := newReviewer(t)
		who.denies.Store(true)
		b.Permissions = lister.Cluster{Kube: who}
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.api.Kind("pods").Add(pod("other", "web-1", "web", 2))
		f := Permitted{Finder: Finder{Groups: b.Groups, Patience: time.Second}, Source: b.Source, Patience: time.Second}
		w := &preview.Workload{Ref: main}
		find := func(namespaces ...string) targets.Found {
			t.Helper()
			job := targets.Job{Discoveries: targets.Discoveries{Kubernetes: []targets.KubernetesSD{{Role: "pod", Namespaces: targets.Namespaces{Names: namespaces}}}}}
			found, notes, err := f.Find(t.Context(), []targets.Job{job}, w)
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			if said := slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "ServiceAccount monitoring/default") }); said != who.fails.Load() {
				t.Errorf("notes %q", notes)
			}
			return found[0]
		}
		denied := func(found targets.Found) bool {
			return len(found.Gaps) == 1 && found.Gaps[0].State == targets.Forbidden && strings.Contains(found.Gaps[0].Message, "list pods in namespace other")
		}
		if found := find("demo", "other"); len(found.Groups) != 1 || !denied(found) {
			t.Errorf("%d groups, gaps %v", len(found.Groups), found.Gaps)
		}
		before := who.reviews.Load()
		if found := find("demo", "other"); len(found.Groups) != 1 || who.reviews.Load() != before {
			t.Errorf("%d groups, %d more reviews", len(found.Groups), who.reviews.Load()-before)
		}
		if found := find("other"); len(found.Groups) != 0 || !denied(found) {
			t.Errorf("%d groups, gaps %v", len(found.Groups), found.Gaps)
		}
		who.denies.Store(false)
		time.Sleep(recheck)
		if found := find("demo", "other"); len(found.Groups) != 2 || len(found.Gaps) != 0 {
			t.Errorf("a minute after it was granted: %d groups, gaps %v", len(found.Groups), found.Gaps)
		}
		who.fails.Store(true)
		if found := find("demo"); len(found.Groups) != 1 || len(found.Gaps) != 0 {
			t.Errorf("when nobody can say: %d groups, gaps %v", len(found.Groups), found.Gaps)
		}
	})
}

// TestPermittedUnknown: unknown permissions are noted, and requests do not wait longer than
// Patience.
func TestPermittedUnknown(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		who := newReviewer(t)
		b.Permissions = slow{lister.Cluster{Kube: who}}
		job := targets.Job{Discoveries: targets.Discoveries{Kubernetes: []targets.KubernetesSD{{Role: "pod"}}}}
		f := Permitted{Finder: Finder{Groups: b.Groups, Patience: time.Second}, Source: b.Source, Patience: 10 * time.Millisecond}
		for _, tc := range []struct{ unknown, want string }{
			{"", "what ServiceAccount monitoring/default may discover is not known yet"},
			{"Roles are among the manifests", "what ServiceAccount monitoring/default may discover is not known: Roles are among the manifests"},
		} {
			f.Unknown = tc.unknown
			_, notes, err := f.Find(t.Context(), []targets.Job{job}, &preview.Workload{Ref: main})
			if err != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], tc.want) {
				t.Errorf("%q, %v", notes, err)
			}
		}
		many := targets.Namespaces{Names: strings.Fields(strings.Repeat("n ", maxReviewed+1))}
		for i := range many.Names {
			many.Names[i] += strings.Repeat("x", i)
		}
		job = targets.Job{Discoveries: targets.Discoveries{Kubernetes: []targets.KubernetesSD{{Role: "pod", Namespaces: many}}}} // reviews of the earlier job are still in flight
		time.Sleep(2 * time.Second)
		f.Unknown = ""
		before := who.reviews.Load()
		if _, notes, _ := f.Find(t.Context(), []targets.Job{job}, &preview.Workload{Ref: main}); len(notes) != 1 || who.reviews.Load() != before {
			t.Errorf("%q, %d reviews", notes, who.reviews.Load()-before)
		}
	})
}
