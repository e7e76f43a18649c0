package prometheus

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// scalingOptions returns the options of an operator that reads this decision about team/web.
func scalingOptions(decided scaling.Workload, err error) Options {
	opts := Options{Workload: benchConfig, Capabilities: promconfig.Capabilities{CentralDiscovery: true}, Scaling: func() (scaling.Document, error) {
		if err != nil {
			return nil, err
		}
		return scaling.Document{"Prometheus/team/web": decided, "Prometheus/other/web": {Shards: 9, Target: 9}}, nil
	}}
	opts.Workload.Discovery = workload.Discovery{Address: "discovery:8443", Shards: true}
	return opts
}

// The number of shards is the one that was decided, within the limits, and the one that the workload has while there is
// no decision.
func TestScaledShards(t *testing.T) {
	for name, c := range map[string]struct {
		spec, has int32
		most      string // the annotation; "" for none
		decided   scaling.Workload
		err       error
		want      int
		warning   string
	}{
		"decided":                  {2, 3, "8", scaling.Workload{Shards: 5}, nil, 5, ""},
		"not less than the spec":   {4, 4, "8", scaling.Workload{Shards: 2}, nil, 4, ""},
		"not more than the limit":  {1, 3, "8", scaling.Workload{Shards: 500}, nil, 8, ""},
		"the limit was lowered":    {1, 6, "4", scaling.Workload{Shards: 6}, nil, 6, ""},
		"but it does not grow":     {1, 6, "4", scaling.Workload{Shards: 7}, nil, 6, ""},
		"nothing was decided":      {2, 6, "8", scaling.Workload{}, nil, 6, ""},
		"a new workload":           {2, 0, "8", scaling.Workload{}, nil, 2, ""},
		"decisions are unreadable": {2, 6, "8", scaling.Workload{}, errors.New("no document"), 6, "the number of shards stays as it is: no document"},
		"without the annotation":   {2, 6, "", scaling.Workload{Shards: 5}, nil, 2, ""},
		"held":                     {2, 6, "8", scaling.Workload{Shards: 6, Held: &scaling.Held{Reason: scaling.NotRetained, Message: "data would be lost"}}, nil, 6, "data would be lost"},
		"no room":                  {5, 5, "3", scaling.Workload{Shards: 5}, nil, 5, "there are 5 shards in any case, because of spec.shards"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.p.Annotations = map[string]string{wellknown.AnnotationTargetDiscovery: "central", wellknown.AnnotationSharding: "weighted"}
			if c.most != "" {
				s.p.Annotations[wellknown.AnnotationMaxShards] = c.most
			}
			s.p.Spec.Shards, s.p.Status.Shards = new(c.spec), c.has
			opts := scalingOptions(c.decided, c.err)
			plan := s.planWith(t, opts)
			if n := strings.Count(strings.Join(steps(plan.Workload), "\n"), "put StatefulSet"); n != c.want {
				t.Errorf("%d StatefulSets, not %d", n, c.want)
			}
			if warnings := strings.Join(faults.Texts(plan.Warnings), "\n"); !strings.Contains(warnings, c.warning) || (warnings == "") != (c.warning == "") {
				t.Errorf("warnings %q", warnings)
			}
			servers, _ := Kinds(opts, &rules.Cache{})
			if n := len(servers.Shape(s.p).Sets); n != c.want {
				t.Errorf("the shape has %d StatefulSets, not %d", n, c.want)
			}
			if status, _ := servers.Status(s.p, engine.Status{}); status.(v1.PrometheusStatus).Shards != int32(c.want) {
				t.Errorf("the status has %d shards, not %d", status.(v1.PrometheusStatus).Shards, c.want)
			}
			if *s.p.Spec.Shards != c.spec {
				t.Error("the object was changed, which others share")
			}
			again, err := gatherFor(Options{Workload: opts.Workload, Capabilities: opts.Capabilities}, forServer(s.p), s.cluster())
			if want := s.p.Status.Shards; c.most != "" && want >= c.spec && (err != nil || *again.Workload.Fields.Shards != want) {
				t.Errorf("elsewhere: %d shards, %v", *again.Workload.Fields.Shards, err)
			}
		})
	}
}

// A shard never goes by accident: neither with a wrong annotation, nor without central discovery or placement by series,
// nor a server whose data would go with it.
func TestShardsStay(t *testing.T) {
	valid := map[string]string{wellknown.AnnotationTargetDiscovery: "central", wellknown.AnnotationSharding: "weighted", wellknown.AnnotationMaxShards: "8"}
	for name, c := range map[string]struct {
		annotations map[string]string // instead of the valid ones
		retain      bool
		want        int
	}{
		"retained":           {nil, true, 3},
		"not retained":       {nil, false, 6},
		"wrong annotation":   {map[string]string{wellknown.AnnotationReassignAfter: "30s"}, true, 6},
		"wrong limit":        {map[string]string{wellknown.AnnotationMaxShards: "many"}, true, 6},
		"by hash":            {map[string]string{wellknown.AnnotationSharding: "hash"}, true, 6},
		"both":               {map[string]string{wellknown.AnnotationTargetDiscovery: "both"}, true, 6},
		"own":                {map[string]string{wellknown.AnnotationTargetDiscovery: "own"}, true, 6},
		"without annotation": {map[string]string{wellknown.AnnotationMaxShards: ""}, true, 2},
	} {
		p := newScene().p
		p.Spec.Shards, p.Status.Shards, p.Annotations = new(int32(2)), 6, maps.Clone(valid)
		maps.Copy(p.Annotations, c.annotations)
		if p.Annotations[wellknown.AnnotationMaxShards] == "" {
			delete(p.Annotations, wellknown.AnnotationMaxShards)
		}
		opts := scalingOptions(scaling.Workload{Shards: 3, Target: 3}, nil)
		opts.Workload.ShardRetention = true
		if c.retain {
			p.Spec.ShardRetentionPolicy = &v1.ShardRetentionPolicy{WhenScaled: v1.RetainWhenScaledRetentionType}
		}
		servers, _ := Kinds(opts, &rules.Cache{})
		if n := len(servers.Shape(p).Sets); n != c.want {
			t.Errorf("%s: %d shards, not %d", name, n, c.want)
		}
		if status, _ := servers.Status(p, engine.Status{}); status.(v1.PrometheusStatus).Shards != int32(c.want) {
			t.Errorf("%s: the status has %d shards", name, status.(v1.PrometheusStatus).Shards)
		}
	}
}

// The version of what is read besides the cluster changes with the decisions alone.
func TestScalingOutside(t *testing.T) {
	version := func(decided scaling.Workload, err error) string {
		servers, _ := Kinds(scalingOptions(decided, err), &rules.Cache{})
		return servers.Outside.Version()
	}
	held := func() *scaling.Held { return &scaling.Held{Reason: scaling.NotRetained} }
	one := version(scaling.Workload{Shards: 1, Held: held()}, nil)
	if again := version(scaling.Workload{Shards: 1, Held: held()}, nil); again != one {
		t.Errorf("%q, then %q", one, again)
	}
	if version(scaling.Workload{Shards: 2, Held: held()}, nil) == one || version(scaling.Workload{}, errors.New("gone")) == one {
		t.Error("it does not change")
	}
}

func TestScalingConditions(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		decided scaling.Workload
		want    []v1.Condition
	}{
		"nothing decided": {scaling.Workload{Shards: 2, Since: at}, []v1.Condition{{Type: v1.Balanced, Status: v1.ConditionTrue, Reason: "FollowsSeries", LastTransitionTime: metav1.NewTime(at), ObservedGeneration: 1}}},
		"a step": {scaling.Workload{Shards: 3, Steps: []scaling.Step{{At: at, From: 2, To: 3, Why: "needed"}}},
			[]v1.Condition{{Type: v1.Balanced, Status: v1.ConditionTrue, Reason: "FollowsSeries", Message: "shards: 2 → 3: needed", LastTransitionTime: metav1.NewTime(at), ObservedGeneration: 1}}},
		"at the limit": {scaling.Workload{Shards: 3, Held: &scaling.Held{Reason: scaling.AtMaxShards, Message: "more", Since: at}},
			[]v1.Condition{{Type: v1.Balanced, Status: v1.ConditionFalse, Reason: "AtMaxShards", Message: "more", LastTransitionTime: metav1.NewTime(at), ObservedGeneration: 1}}},
		"not retained": {scaling.Workload{Shards: 3, Since: at, Held: &scaling.Held{Reason: scaling.NotRetained, Message: "lost", Since: at}}, []v1.Condition{
			{Type: v1.Balanced, Status: v1.ConditionTrue, Reason: "FollowsSeries", LastTransitionTime: metav1.NewTime(at), ObservedGeneration: 1},
			{Type: v1.ScaleDownBlocked, Status: v1.ConditionTrue, Reason: "NotRetained", Message: "lost", LastTransitionTime: metav1.NewTime(at), ObservedGeneration: 1}}},
	} {
		p := newScene().p
		p.Annotations = map[string]string{wellknown.AnnotationTargetDiscovery: "central", wellknown.AnnotationSharding: "weighted", wellknown.AnnotationMaxShards: "8"}
		servers, _ := Kinds(scalingOptions(c.decided, nil), &rules.Cache{})
		status, _ := servers.Status(p, engine.Status{})
		if diff := cmp.Diff(c.want, status.(v1.PrometheusStatus).Conditions); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Agents are scaled like servers, but not in mode DaemonSet.
func TestScaledAgents(t *testing.T) {
	a := &v1alpha1.PrometheusAgent{}
	a.Namespace, a.Name = "team", "web"
	a.Annotations = map[string]string{wellknown.AnnotationTargetDiscovery: "central", wellknown.AnnotationSharding: "weighted", wellknown.AnnotationMaxShards: "8"}
	opts := scalingOptions(scaling.Workload{}, nil)
	opts.Scaling = func() (scaling.Document, error) {
		return scaling.Document{"PrometheusAgent/team/web": {Shards: 5}}, nil
	}
	_, agents := Kinds(opts, &rules.Cache{})
	if n := len(agents.Shape(a).Sets); n != 5 || a.Spec.Shards != nil {
		t.Errorf("%d shards, and the object has %v", n, a.Spec.Shards)
	}
	if annotation, why := opts.workloadOf(a).builder(opts.Workload).IgnoredAnnotation(); annotation != "" {
		t.Errorf("%s %s", annotation, why)
	}
	a.Spec.Mode = v1alpha1.DaemonSetPrometheusAgentMode
	if o := opts.workloadOf(a); o.Fields.Shards != nil || o.limits != nil {
		t.Errorf("in mode DaemonSet: %d shards", *o.Fields.Shards)
	}
}
