package discovery

import (
	"fmt"
	"iter"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Find returns the groups of all discoveries of a job. own is the namespace of the workload.
//
// Targets that cannot be found among the objects are gaps: targets of another cluster, unsupported
// selectors, Endpoints if only EndpointSlices were added.
func (o *Objects) Find(j *targets.Job, own string) (out targets.Found) {
	unknown := func(format string, args ...any) {
		out.Gaps = append(out.Gaps, targets.Gap{State: targets.Unknown, Message: fmt.Sprintf(format, args...)})
	}
	for sd := range Distinct(j) {
		if other := OtherCluster(sd); other != "" {
			unknown("the job discovers targets in the cluster of %s", other)
			continue
		}
		found, err := o.Look(sd, own)
		if err != nil {
			unknown("kubernetes discovery: %v", err)
			continue
		}
		if sd.Role == roleEndpoints && o.onlySlices(scopeOf(sd, own)) {
			unknown("the job discovers Endpoints, and only EndpointSlices were given")
		}
		out.Groups, out.Gaps = append(out.Groups, found.Groups...), append(out.Gaps, found.Gaps...)
	}
	return out
}

// Distinct iterates over the Kubernetes discoveries of a job without duplicates. Prometheus runs
// equal ones once.
func Distinct(j *targets.Job) iter.Seq[*targets.KubernetesSD] {
	return func(yield func(*targets.KubernetesSD) bool) {
		seen := map[string]bool{}
		for i := range j.Kubernetes {
			sd := &j.Kubernetes[i]
			key := fmt.Sprintf("%#v", *sd) // all of a job have the same pointer to their release
			if !seen[key] && !yield(sd) {
				return
			}
			seen[key] = true
		}
	}
}

// OtherCluster returns the address of the other cluster in which a discovery runs; "" for the
// workload's own cluster.
func OtherCluster(sd *targets.KubernetesSD) string {
	return strings.TrimSpace(sd.APIServer + " " + sd.KubeconfigFile)
}

// Holds reports whether there are objects of a discovery's role in its namespaces, regardless of
// its selectors. own is the namespace of the workload.
func (o *Objects) Holds(sd *targets.KubernetesSD, own string) bool {
	return len(o.inScope(sd.Role, scopeOf(sd, own))) > 0
}

// inScope returns the objects of a role in the namespaces of a scope.
func (o *Objects) inScope(role string, s scope) []Object {
	s.selectors = nil
	out, _ := o.objects(role, s) // only selectors return errors
	return out
}

// onlySlices reports whether there are EndpointSlices and no Endpoints.
func (o *Objects) onlySlices(s scope) bool {
	return len(o.inScope(roleEndpoints, s)) == 0 && len(o.inScope(roleEndpointSlice, s)) > 0
}
