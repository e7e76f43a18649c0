package discovery

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Find is what the discoveries of a job find. own is the namespace of the workload.
//
// What cannot be found among the objects is a gap: targets of another cluster, selectors
// that are not known here, Endpoints where only EndpointSlices were given.
func (o *Objects) Find(j *targets.Job, own string) (out targets.Found) {
	unknown := func(format string, args ...any) {
		out.Gaps = append(out.Gaps, targets.Gap{State: targets.Unknown, Message: fmt.Sprintf(format, args...)})
	}
	for sd := range Distinct(j) {
		if other := OtherCluster(sd); other != "" {
			unknown("the job discovers targets in the cluster of %s", other)
			continue
		}
		groups, err := o.Groups(sd, own)
		if err != nil {
			unknown("kubernetes discovery: %v", err)
			continue
		}
		if sd.Role == roleEndpoints && o.onlySlices(scopeOf(sd, own)) {
			unknown("the job discovers Endpoints, and only EndpointSlices were given")
		}
		out.Groups = append(out.Groups, groups...)
	}
	return out
}

// Distinct are the Kubernetes discoveries of a job. Prometheus runs equal ones once.
func Distinct(j *targets.Job) iter.Seq[*targets.KubernetesSD] {
	return func(yield func(*targets.KubernetesSD) bool) {
		for i := range j.Kubernetes {
			sd := &j.Kubernetes[i]
			same := func(other targets.KubernetesSD) bool { return reflect.DeepEqual(other, *sd) }
			if !slices.ContainsFunc(j.Kubernetes[:i], same) && !yield(sd) {
				return
			}
		}
	}
}

// OtherCluster says where another cluster is that a discovery looks into; "" for the
// workload's own.
func OtherCluster(sd *targets.KubernetesSD) string {
	return strings.TrimSpace(sd.APIServer + " " + sd.KubeconfigFile)
}

// Holds reports whether there are objects of the role of a discovery where it looks,
// whatever its selectors say. own is the namespace of the workload.
func (o *Objects) Holds(sd *targets.KubernetesSD, own string) bool {
	return len(o.inScope(sd.Role, scopeOf(sd, own))) > 0
}

// inScope are the objects of a role in the namespaces of a scope.
func (o *Objects) inScope(role string, s scope) []Object {
	s.selectors = nil
	out, _ := o.objects(role, s) // selectors alone can be wrong
	return out
}

// onlySlices reports whether there are EndpointSlices and no Endpoints.
func (o *Objects) onlySlices(s scope) bool {
	return len(o.inScope(roleEndpoints, s)) == 0 && len(o.inScope(roleEndpointSlice, s)) > 0
}
