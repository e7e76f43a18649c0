package watch

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// views returns the number of views, and how many of them are spare.
func views(c *Cluster) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return []int{len(c.leases), len(c.spare)}
}

// A few groups of one-time subscriptions are kept; groups with other users are not affected.
func TestSubscribeOnce(t *testing.T) {
	bubble(t, func(t *testing.T, a *api) {
		c := a.cluster()
		a.Kind("pods").Add(a.pod("demo", "web", "10.0.0.1", "web"))
		sd := func(i int) targets.KubernetesSD {
			return targets.KubernetesSD{Role: "pod", Selectors: []targets.Selector{{Role: "pod", Label: fmt.Sprintf("app!=x%d", i)}}}
		}
		once := func(i int) {
			s, err := c.SubscribeOnce(new(sd(i)), "own", func() {})
			if err != nil {
				t.Fatal(err)
			}
			settle()
			n := 0
			s.Each(func(*targetgroup.Group) { n++ })
			if n != 1 {
				t.Errorf("discovery %d finds %d", i, n)
			}
			s.Close()
		}
		used, left := subscribe(t, c, sd(0)), subscribe(t, c, sd(1))
		defer used.Close()
		left.Close()
		for i := range 100 {
			once(i)
			once(0)
		}
		same(t, []int{2 + mostSpare, mostSpare}, views(c))
		same(t, map[string]int{"/pods": 2}, a.Calls())
		time.Sleep(idle + time.Second)
		synctest.Wait()
		same(t, []int{1, 0}, views(c))
		same(t, []string{"pod/demo/web web"}, used.found(podApp))
	})
}
