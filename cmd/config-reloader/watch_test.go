//go:build linux

package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs/programtest"
	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// TestWatchedTargets checks the reports on which the discovery server bases its moves of targets: the targets in the
// list with their numbers of series, and that a new target was scraped, but not before its first scrape.
func TestWatchedTargets(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for scrapes")
	}
	program := programtest.Find(t, "prometheus")
	version, err := programs.Release(t.Context(), program)
	must(t, err)
	m := newMigration(t)
	m.version = "v" + version.String()
	early := 0
	m.d.heard = func(r targetreport.Report) {
		if slices.Contains(r.Scraped, "new") && len(m.extra.Scrapes()) == 0 {
			early++
		}
	}
	m.deliver("central")
	m.start(program)
	list := func(version, groups string) string { return fullList(version, migrationJob, groups) }
	one, two := m.targets[0], m.targets[1]
	m.d.set(list("1-1", groupsOf(one, two)))
	m.live("central")

	asked := 0
	reloadtest.Until(t, "an inventory", func() bool {
		all := m.d.inventoried()
		if len(all) < asked {
			return false
		}
		m.d.events <- `{"ask":"inventory"}` + "\n"
		if asked++; len(all) == 0 {
			return false
		}
		last := all[len(all)-1]
		known := func(address string) bool {
			of, is := last[migrationJob+" "+address]
			return is && of.Scraped && of.Series != nil && *of.Series == 1
		}
		return len(last) == 2 && known(one.Address) && known(two.Address)
	})

	m.d.set(list("1-2", groupsOf(one, two, m.extra)))
	m.d.events <- fmt.Sprintf(`{"watch":{"seq":1,"units":[{"id":"old","targets":{%[1]q:[%[2]q]}},{"id":"new","targets":{%[1]q:[%[3]q]}}]}}`+"\n", migrationJob, one.Address, m.extra.Address)
	scrapes := func(want ...string) func(targetreport.Report) bool {
		return func(r targetreport.Report) bool {
			return slices.Equal(r.Scraped, want) && r.Fetched == r.Version && r.Watch == 1 && !r.Blind
		}
	}
	m.reports("about the new target", scrapes("old", "new"))
	m.d.set(list("1-3", groupsOf(one, two)))
	m.reports("about the list without it", scrapes("old"))
	if early > 0 {
		t.Errorf("%d reports of a scrape before there was one", early)
	}
}
