package discovery

import (
	"fmt"
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
	for i := range j.Kubernetes {
		sd := &j.Kubernetes[i]
		if sd.APIServer != "" || sd.KubeconfigFile != "" {
			unknown("the job discovers targets in the cluster of %s", strings.TrimSpace(sd.APIServer+" "+sd.KubeconfigFile))
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

// onlySlices reports whether there are EndpointSlices and no Endpoints.
func (o *Objects) onlySlices(s scope) bool {
	s.selectors = nil
	endpoints, _ := o.objects(roleEndpoints, s)
	slices, _ := o.objects(roleEndpointSlice, s)
	return len(endpoints) == 0 && len(slices) > 0
}
