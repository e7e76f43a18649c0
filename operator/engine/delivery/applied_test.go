package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

func report(file string, target reload.TargetReport) reload.Report {
	return reload.Report{Ready: target.Ready, Targets: []reload.TargetReport{target},
		Current: &reload.Stamped{Content: reload.Content{Files: []reload.FileSum{{InputSHA256: file}}}}}
}

func TestFindingOf(t *testing.T) {
	runs := reload.TargetReport{Ready: true}
	since := func(minute int) *reload.Stamped {
		return &reload.Stamped{Time: time.Date(2024, 5, 1, 10, minute, 0, 0, time.UTC)}
	}
	later := reload.Report{Targets: []reload.TargetReport{{Ready: true, Applied: since(5)}}, Current: &reload.Stamped{Content: reload.Content{Dirs: []volume.DirSum{{Path: "/r", SHA256: "11"}}}}}
	fails := func(r reload.Reason, text string) reload.TargetReport {
		return reload.TargetReport{Error: &reload.Failure{Reason: r, Message: text}}
	}
	broken := report("aa", runs)
	broken.InputError = &reload.Failure{Message: "open /etc/x: password hush"}
	mixed := report("aa", runs)
	mixed.InputError = &reload.Failure{Message: "parts do not belong together", Reason: reload.Incomplete}
	rules := reload.Report{Targets: []reload.TargetReport{runs}, Current: &reload.Stamped{Content: reload.Content{Dirs: []volume.DirSum{{Path: "/r", SHA256: "11"}}}}}
	want := Content{Config: "aa", Dirs: map[string]string{"/r": "11"}}
	says := func(r reload.Report) reply { return reply{report: r} }
	silent := reply{port: 8081, err: statusError(404)}
	const log = "see the log of its reloader"
	for name, tc := range map[string]struct {
		replies []reply
		want    Finding
	}{
		"both run it":                 {[]reply{says(report("aa", runs)), says(rules)}, Finding{Outcome: Outcome{Applied, ""}, Disk: Confirmed}},
		"the last reload counts":      {[]reply{says(report("aa", reload.TargetReport{Ready: true, Applied: since(3)})), says(later)}, Finding{Outcome: Outcome{Applied, ""}, Disk: Confirmed, Reload: since(5).Time}},
		"a reload of other files":     {[]reply{says(report("bb", reload.TargetReport{Ready: true, Applied: since(3)}))}, Finding{Outcome: Outcome{Waiting, "the kubelet has not refreshed its files yet"}, Disk: Missing, Reload: since(3).Time}},
		"other files":                 {[]reply{says(report("bb", fails(reload.Rejected, "x"))), says(rules)}, Finding{Outcome: Outcome{Waiting, "the kubelet has not refreshed its files yet"}, Disk: Missing}},
		"nobody speaks of rules":      {[]reply{says(report("aa", runs))}, Finding{Outcome: Outcome{Waiting, "the kubelet has not refreshed its files yet"}, Disk: Missing}},
		"nobody answers about rules":  {[]reply{says(report("aa", runs)), silent}, Finding{Outcome: Outcome{Silent, "its reloader on port 8081 does not answer"}, Disk: Unknown}},
		"a server that starts":        {[]reply{says(report("aa", fails(reload.NotReady, "503"))), says(rules)}, Finding{Outcome: Outcome{Waiting, "the server has not confirmed it yet"}, Disk: Confirmed}},
		"a server that was not asked": {[]reply{says(report("aa", reload.TargetReport{})), says(rules)}, Finding{Outcome: Outcome{Waiting, "the server has not confirmed it yet"}, Disk: Confirmed}},
		"a server that refuses":       {[]reply{says(report("aa", fails(reload.Rejected, "answered 500: hush"))), says(rules)}, Finding{Outcome: Outcome{Refused, "the server rejected it: " + log}, Disk: Confirmed}},
		"a refusal counts most":       {[]reply{says(report("aa", fails(reload.NotReady, "503"))), says(reload.Report{Targets: []reload.TargetReport{fails(reload.Rejected, "error loading rules")}, Current: rules.Current})}, Finding{Outcome: Outcome{Refused, "the server rejected it: a rule fails to load (" + log + ")"}, Disk: Confirmed}},
		"parts of two versions":       {[]reply{says(mixed), says(rules)}, Finding{Outcome: Outcome{Waiting, "its files are being replaced"}, Disk: Missing}},
		"files that make no sense":    {[]reply{says(broken), says(rules)}, Finding{Outcome: Outcome{Refused, "its reloader cannot use the files: " + log}, Disk: Confirmed}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, findingOf(tc.replies, want)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
