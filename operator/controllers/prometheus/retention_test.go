package prometheus

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

func TestSurplusShards(t *testing.T) {
	retain := &v1.ShardRetentionPolicy{WhenScaled: v1.RetainWhenScaledRetentionType}
	keepFor := func(d v1.Duration) *v1.ShardRetentionPolicy {
		return &v1.ShardRetentionPolicy{WhenScaled: v1.RetainWhenScaledRetentionType, Retain: &v1.RetainConfig{RetentionPeriod: d}}
	}
	at := func(d time.Duration) string { return now.Add(d).UTC().Format(time.RFC3339) }
	const never = "0001-01-01T00:00:00Z"
	for name, tc := range map[string]struct {
		policy      *v1.ShardRetentionPolicy
		retention   string
		size        string
		annotation  string
		closed      bool // the feature gate is disabled
		want        string
		wantWarning bool
	}{
		"no policy deletes":                      {want: "remove"},
		"a closed gate deletes":                  {policy: retain, closed: true, want: "remove"},
		"Delete deletes":                         {policy: &v1.ShardRetentionPolicy{WhenScaled: v1.DeleteWhenScaledRetentionType}, annotation: at(time.Hour), want: "remove"},
		"the first time sets the retention":      {policy: retain, retention: "15d", want: at(15 * 24 * time.Hour)},
		"the default retention is a day":         {policy: retain, want: at(24 * time.Hour)},
		"only a size keeps for ever":             {policy: retain, size: "10GB", want: never},
		"an own period wins":                     {policy: keepFor("2h"), retention: "15d", want: at(2 * time.Hour)},
		"a period of zero keeps for ever":        {policy: keepFor("0"), want: never},
		"zero time is never":                     {policy: retain, annotation: never},
		"before the deadline":                    {policy: retain, annotation: at(time.Second)},
		"after the deadline":                     {policy: retain, annotation: at(-time.Second), want: "remove"},
		"a broken annotation keeps and warns":    {policy: retain, annotation: "soon", wantWarning: true},
		"a broken retention keeps and warns too": {policy: retain, retention: "long", wantWarning: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &v1.Prometheus{}
			p.Spec.ShardRetentionPolicy, p.Spec.Retention, p.Spec.RetentionSize = tc.policy, v1.Duration(tc.retention), v1.ByteSize(tc.size)
			sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "prometheus-main-shard-1"}}
			if tc.annotation != "" {
				sts.Annotations = map[string]string{wellknown.AnnotationDeletionDeadline: tc.annotation}
			}
			var plan Plan
			plan.surplus(&Inputs{Workload: forServer(p), Now: now.Time, options: Options{Workload: workload.Config{ShardRetention: !tc.closed}}}, sts)
			got := ""
			for _, s := range plan.Workload {
				got = string(s.Verb)
				if a := s.Object.GetAnnotations(); a != nil {
					got = a[wellknown.AnnotationDeletionDeadline]
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || (len(plan.Warnings) > 0) != tc.wantWarning {
				t.Errorf("%s warnings %q", diff, plan.Warnings)
			}
		})
	}
}

// A surplus shard from before a takeover keeps its pod template, whose reloader cannot read
// parts. The other shards get their parts nevertheless.
func TestARetainedShardHoldsNothingBack(t *testing.T) {
	w := takenOver(t)
	w.owner.Fields.Shards = new(int32(2))
	w.owner.Server.Spec.ShardRetentionPolicy = &v1.ShardRetentionPolicy{WhenScaled: v1.RetainWhenScaledRetentionType}
	w.config.ShardRetention = true
	all := distinctMonitors(300)
	w.services = all[:10]
	w.pass()
	retained := w.shards["prometheus-main-shard-1"]
	retained.Annotations[wellknown.AnnotationDeletionDeadline] = "0001-01-01T00:00:00Z"
	template := retained.Spec.Template.DeepCopy()
	left := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "prometheus-main-shard-1-0", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "StatefulSet", Name: retained.Name, Controller: new(true)},
	}}, Spec: workload.TrimReloaders(&template.Spec)}

	w.owner.Fields.Shards = new(int32(1))
	w.config.Layout, w.config.ConfigReloaderImage = workload.LayoutSplit, benchConfig.ConfigReloaderImage
	w.pass()
	w.running, w.services = []*corev1.Pod{left}, all
	plan := w.pass()
	if len(w.partSecrets()) == 0 {
		t.Error("there are no parts although all pods that are wanted can read them")
	}
	if diff := cmp.Diff(template, &w.shards[retained.Name].Spec.Template); diff != "" {
		t.Errorf("the retained shard was updated:\n%s", diff)
	}
	want := `StatefulSet prometheus-main-shard-1 is retained and cannot read the configuration, which is in parts: container config-reloader still has image "` + referenceReloader
	if len(plan.Warnings) != 1 || !strings.HasPrefix(plan.Warnings[0].String(), want) {
		t.Errorf("warnings %q", plan.Warnings)
	}

	w.owner.Fields.Shards = new(int32(2)) // the shard is needed again
	_, plan, err := w.desired()
	if err == nil || !strings.Contains(err.Error(), "StatefulSet prometheus-main-shard-1: ") {
		t.Errorf("error %v", err)
	}
	for _, s := range plan.Workload {
		w.write(s)
	}
	w.running = nil // its pod was replaced
	if w.pass(); len(w.partSecrets()) == 0 {
		t.Error("there are no parts although the shard that came back can read them")
	}
}
