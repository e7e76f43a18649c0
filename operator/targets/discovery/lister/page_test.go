package lister

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// Pages in protobuf and in JSON have the same result.
func TestPagesOfBothForms(t *testing.T) {
	const pods = 2 * pageSize
	jobs, err := targets.ReadJobs(promconfig.JobText{Text: []byte("- {job_name: a, " + monitorOfTen + "}"), Origins: origins(2)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client(t, discoverytest.Record(t, pods, pageSize)).Find(t.Context(), jobs, workload)
	if err != nil {
		t.Fatal(err)
	}
	counts := jobs[0].Evaluate(got.Found[0]).Counts()
	if diff := cmp.Diff(map[targets.State]int{targets.Kept: pods / 10 * 2, targets.Dropped: pods * 9 / 10 * 2}, counts); diff != "" {
		t.Errorf("%s\n%v", diff, got.Found[0].Gaps)
	}
	addresses := map[model.LabelValue]bool{}
	for i, g := range got.Found[0].Groups {
		if name := g.Targets[0]["__meta_kubernetes_pod_container_image"]; name == "" {
			t.Fatalf("group %d has no labels of pods: %v", i, g.Targets[0])
		}
		for _, target := range g.Targets { // the buffers of pages are reused
			addresses[target["__address__"]] = true
		}
	}
	if len(addresses) != 2*pods {
		t.Errorf("%d different addresses, want %d", len(addresses), 2*pods)
	}
}

// A response that is not a list is a gap.
func TestPagesThatAreNone(t *testing.T) {
	for name, text := range map[string]string{
		"a page for people": "<html>log in</html>", "cut off": "k8s\x00\x0a\xff", "JSON of something else": `{"kind": "Status", "apiVersion": "v1"}`, "empty": "",
		"another kind": string(encodedStatus(t)),
	} {
		got, err := client(t, discoverytest.RecordedServer{"pods": {[]byte(text)}}).Find(t.Context(), jobs(t, kubernetesSD("{role: pod}")), workload)
		if err != nil {
			t.Fatal(err)
		}
		if gaps := got.Found[0].Gaps; len(gaps) != 1 || gaps[0].State != targets.Unknown || !strings.Contains(gaps[0].Message, "list pods in all namespaces: ") {
			t.Errorf("%s: %v", name, gaps)
		}
	}
}
