package central

import (
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
)

// The page names outdated pods, and the targets for which a pod and its list disagree.
func TestTableNamesDisagreements(t *testing.T) {
	add := (*targetreport.Targets)(nil).Add
	report := &feed.PodReport{Report: targetreport.Report{Jobs: []targetreport.Job{
		{Job: "podMonitor/demo/db/0", Pending: true},
		{Job: "podMonitor/demo/web/0", Served: 3, Active: 2, Dropped: add("10.0.0.1:80").Add("10.0.0.2:80"), Unlisted: add("10.0.0.3:80")},
	}}}
	text := Status{Leads: true, Workloads: []WorkloadStatus{{Ref: catalog.Ref{Kind: "Prometheus", Namespace: "demo", Name: "main"}, Shards: []feed.ShardStatus{{
		Version: "7-3", Streams: []feed.StreamStatus{{Pod: "prometheus-main-0", Version: "7-2", Report: report}, {Pod: "prometheus-main-1", Version: "7-3", Report: &feed.PodReport{}}, {Pod: "prometheus-main-2", Version: "7-3"}},
	}}}}}.table(time.Now())
	for _, want := range []string{
		"prometheus-main-0 (behind, 3 disagreements), prometheus-main-1, prometheus-main-2\n",
		"pod prometheus-main-0, job podMonitor/demo/web/0: its relabelings drop 2 targets of the list: 10.0.0.1:80, 10.0.0.2:80\n",
		"pod prometheus-main-0, job podMonitor/demo/web/0: Prometheus scrapes 1 targets that are not in the list: 10.0.0.3:80\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "podMonitor/demo/db/0") {
		t.Errorf("a job that was not compared yet is named:\n%s", text)
	}
}
