package prometheus

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/wellknown"
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
		closed      bool // the feature gate
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
			plan.surplus(&Inputs{Owner: ForServer(p), Now: now.Time, options: Options{Workload: workload.Config{ShardRetention: !tc.closed}}}, sts)
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
