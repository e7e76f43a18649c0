package promconfig

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// Central discovery: jobs whose targets come from the pod's own cluster read them from the
// config-reloader beside the server, which receives them from the discovery service. All other jobs
// discover their targets themselves.
//
//	own      kubernetes_sd_configs                     hashmod and keep
//	both     kubernetes_sd_configs, http_sd_configs    hashmod and keep
//	central  http_sd_configs                           the constants that these steps leave behind
//
// The constants stay because all labels but __meta_* identify a target to the server: with others,
// every scrape loop would restart.

// ListedSD is the entry of http_sd_configs that reads the targets of a job from config-reloader.
type ListedSD struct {
	// Endpoint is a URL on the loopback interface.
	Endpoint string `yaml:"url"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval"`
}

const (
	// listedRefresh is the interval of requests to config-reloader. Another value would be another
	// discovery, whose targets are lost until it has answered.
	listedRefresh = "5s"
	listedSince   = "2.28.0" // http_sd_configs
)

// Discoverable holds the properties of a workload on which central discovery depends.
type Discoverable struct {
	Version   *semver.Version
	DaemonSet bool
	Enabled   bool   // by the flags of the operator
	Fault     string // why its pods cannot receive targets; empty if they can
}

// TargetDiscovery returns which program discovers the targets of a workload. If the annotation of central
// discovery has no effect, ignored is the reason.
//
// Errors: the annotation is invalid, see [AnnotationError].
func TargetDiscovery(annotations map[string]string, of Discoverable) (d wellknown.TargetDiscovery, ignored string, err error) {
	d, err = wellknown.ParseTargetDiscovery(annotations)
	if err != nil {
		return wellknown.OwnDiscovery, "", &AnnotationError{wellknown.AnnotationTargetDiscovery, err}
	}
	if _, err := wellknown.ParseDivision(annotations); err != nil {
		wrong, _ := errors.AsType[*wellknown.DivisionError](err)
		return wellknown.OwnDiscovery, "", &AnnotationError{wrong.Annotation, err}
	}
	if !d.Central() {
		return d, "", nil
	}
	const noEffect = "has no effect: "
	switch {
	case !of.Enabled:
		ignored = noEffect + "it needs the operator's flag --central-discovery=opt-in"
	case of.DaemonSet:
		ignored = noEffect + "in mode DaemonSet, each pod discovers the targets of its node"
	case of.Version.LessThan(semver.MustParse(listedSince)):
		ignored = fmt.Sprintf("%sit needs Prometheus >= %s", noEffect, listedSince)
	case of.Fault != "":
		ignored = noEffect + of.Fault
	default:
		return d, "", nil
	}
	return wellknown.OwnDiscovery, ignored, nil
}

// IgnoredAnnotation returns the first annotation of a workload about its shards that has no effect, and why. They need
// a workload whose targets only the discovery service discovers. d is the discovery in effect.
func IgnoredAnnotation(annotations map[string]string, d wellknown.TargetDiscovery) (annotation, why string) {
	if d == wellknown.CentralDiscovery {
		division, err := wellknown.ParseDivision(annotations)
		switch _, size := annotations[wellknown.AnnotationSeriesPerShard]; {
		case err == nil && division.Weighted && size && division.Autoscaling.MaxShards == 0:
			return wellknown.AnnotationSeriesPerShard, fmt.Sprintf("has no effect: it needs %s", wellknown.AnnotationMaxShards)
		case err != nil || division.Weighted:
			return "", ""
		}
	}
	for _, annotation := range wellknown.DivisionAnnotations {
		value, set := annotations[annotation]
		switch {
		case !set || annotation == wellknown.AnnotationSharding && value == "hash":
		case annotation == wellknown.AnnotationMaxShards:
			return annotation, fmt.Sprintf("only keeps the number of shards from falling: to follow the series, it needs %s: central and %s: weighted", wellknown.AnnotationTargetDiscovery, wellknown.AnnotationSharding)
		case d != wellknown.CentralDiscovery:
			return annotation, fmt.Sprintf("has no effect: it needs %s: central", wellknown.AnnotationTargetDiscovery)
		default:
			return annotation, fmt.Sprintf("has no effect: it needs %s: weighted", wellknown.AnnotationSharding)
		}
	}
	return "", ""
}

// AnnotationError is an invalid annotation of a workload.
type AnnotationError struct {
	annotation string
	err        error
}

func (e *AnnotationError) Error() string {
	field, reason := e.Located()
	return field + ": " + reason
}
func (e *AnnotationError) Unwrap() error { return e.err }

// Located implements the interface of package faults.
func (e *AnnotationError) Located() (field, reason string) {
	return faults.Key("metadata.annotations", e.annotation), e.err.Error()
}

// ConditionReason returns the reason of the condition that reports the error.
func (e *AnnotationError) ConditionReason() string { return "InvalidAnnotation" }

// discovery returns which program discovers the targets of jobs in the pod's own cluster. Settings for
// evaluation always have the discovery and the sharding steps of the servers themselves, because
// the discovery service evaluates these.
func (s *Settings) discovery() wellknown.TargetDiscovery {
	if s.origins {
		return wellknown.OwnDiscovery
	}
	return s.data.Discovery
}

// Central reports whether only the discovery service discovers the targets of jobs in the pod's own
// cluster, so that [Settings.WithOrigins] compiles other jobs.
func (s *Settings) Central() bool { return s.discovery() == wellknown.CentralDiscovery }

// listed returns the discovery that reads the targets of a job from config-reloader, or nil without
// central discovery.
func (s *Settings) listed(job string) []*ListedSD {
	if !s.discovery().Central() {
		return nil
	}
	return []*ListedSD{{
		Endpoint: "http://" + wellknown.TargetsAddress + wellknown.TargetsPath + url.PathEscape(job), RefreshInterval: listedRefresh,
	}}
}

// discover returns the discoveries of a job with one entry of kubernetes_sd_configs.
func (s *Settings) discover(job string, sd *KubernetesSD) ([]*KubernetesSD, []*ListedSD) {
	if sd.external() {
		return []*KubernetesSD{sd}, nil
	}
	if s.Central() {
		return nil, s.listed(job)
	}
	return []*KubernetesSD{sd}, s.listed(job)
}

// external reports whether the discovery uses another API server or other credentials than those of
// the pod.
func (k *KubernetesSD) external() bool {
	return !reflect.ValueOf(k.APIServer).IsZero()
}

// discoverAny does the same for the discoveries of a ScrapeConfig. It reports whether only the
// discovery service discovers its targets. A job that has only static targets is not listed.
func (s *Settings) discoverAny(job string, d *Discoveries) (central bool) {
	if !d.inCluster() {
		return false
	}
	for _, list := range s.listed(job) {
		d.HTTP = []*HTTPSD{{Endpoint: list.Endpoint, RefreshInterval: list.RefreshInterval}}
	}
	if central = s.Central(); central {
		d.Kubernetes, d.Static = nil, nil
	}
	return central
}

// inCluster reports whether there are discoveries in the pod's own cluster, and no others but static
// targets.
func (d *Discoveries) inCluster() bool {
	for _, k := range d.Kubernetes {
		if k.APIServer != "" {
			return false
		}
	}
	rest := *d
	rest.Kubernetes, rest.Static = nil, nil
	return len(d.Kubernetes) > 0 && reflect.ValueOf(rest).IsZero()
}

// shardBy returns the steps that assign targets to shards: the given ones, or the constants if only
// the discovery service discovers the targets.
func (s *Settings) shardBy(steps []Step, central bool) []Step {
	if central {
		return s.sharded
	}
	return steps
}

// listURL is the label with the URL of the list, which servers add to targets of http_sd_configs.
const listURL = "__meta_url"

// hideListURL removes it before the first step if a later one can read it, for example labelmap with
// __meta_(.+). With their own discovery, targets do not have it.
func (l *stepList) hideListURL() {
	if !slices.ContainsFunc(l.steps, readsListURL) {
		return
	}
	l.steps = slices.Insert(l.steps, 0, Step(&filterStep{Action: "labeldrop", Regex: listURL}))
	if l.traced {
		l.origins = slices.Insert(l.origins, 0, Origin{listURLOrigin})
	}
}

// readsListURL reports whether a step can read the label with the URL of the list. Steps of the operator do not,
// and those that only remove labels do not matter, because servers remove it in the end.
func readsListURL(step Step) bool {
	r, is := step.(*Relabel)
	if !is {
		return false
	}
	if r.Action == "labelmap" {
		regex, err := regexcost.Whole(cmp.Or(r.Regex, defaultRegex))
		return err != nil || strings.Contains(r.Regex, "$(") || regex.MatchString(listURL) // a variable may match anything
	}
	return slices.Contains(r.SourceLabels, listURL) || actions[r.Action].compares && r.TargetLabel == listURL
}

// constants returns the steps that set the same labels as the steps of sharding in each target that they keep. They do
// not depend on the number of shards.
func (s sharding) constants() []Step {
	var steps []Step
	if s.Current {
		steps = append(steps, currentShardStep)
	}
	variable := "$(SHARD)"
	if len(s.Zones) > 0 {
		steps = append(steps, &copyStep{TargetLabel: "__tmp_topology", Replacement: "$(TOPOLOGY_ZONE)", Action: "replace"})
		variable = "$(INZONE_SHARD)"
	}
	return append(steps, &copyStep{TargetLabel: "__tmp_hash", Replacement: variable, Action: "replace"})
}
