package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// admission checks the pods of a workload like the admission plugins LimitRanger and ResourceQuota. Without the
// pods of others it finds only what is refused in any case.
type admission struct {
	*linter
	self   Finding
	fields *v1.WorkloadFields
	pod    *corev1.PodSpec
	pods   int64                          // number of pods
	claims []corev1.PersistentVolumeClaim // of each pod
	refuse bool                           // a LimitRange refuses a container
}

// admissionRemarks reports pods and volume claims that a LimitRange or ResourceQuota among the manifests refuses.
func (l *linter) admissionRemarks(self Finding, w dryrun.Workload, made dryrun.Outcome) {
	var limits []*corev1.LimitRange
	var quotas []*corev1.ResourceQuota
	for _, o := range l.objects.Native() {
		switch o := o.(type) {
		case *corev1.LimitRange:
			if o.Namespace == w.Object.GetNamespace() {
				limits = append(limits, o)
			}
		case *corev1.ResourceQuota:
			if o.Namespace == w.Object.GetNamespace() {
				quotas = append(quotas, o)
			}
		}
	}
	pod, _ := podOf(made)
	if pod == nil || len(limits)+len(quotas) == 0 {
		return
	}
	a := &admission{linter: l, self: self, fields: w.Object.GetWorkloadFields(), pod: pod.DeepCopy()}
	for _, s := range made.Plan.Workload {
		if sts, is := s.Object.(*appsv1.StatefulSet); is && sts.Spec.Replicas != nil {
			a.pods += int64(*sts.Spec.Replicas)
			a.claims = sts.Spec.VolumeClaimTemplates // the same for all shards
		}
	}
	a.eachContainer(func(c *corev1.Container) { // as the API server does before admission
		for name, limit := range c.Resources.Limits {
			setMissing(&c.Resources.Requests, name, limit)
		}
	})
	for _, o := range limits {
		for i := range o.Spec.Limits {
			a.limit(o, i)
		}
	}
	if a.refuse {
		return
	}
	for _, o := range quotas {
		a.quota(o)
	}
}

func (a *admission) eachContainer(do func(*corev1.Container)) {
	for i := range a.pod.InitContainers {
		do(&a.pod.InitContainers[i])
	}
	for i := range a.pod.Containers {
		do(&a.pod.Containers[i])
	}
}

func setMissing(list *corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	if _, has := (*list)[name]; has {
		return
	}
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = q
}

// fieldOf returns the field with the resources of a container.
func (a *admission) fieldOf(container string) string {
	field := containerField(a.fields, container)
	if field == "spec" && container != a.pod.Containers[0].Name {
		return "spec.containers" // where a patch of the container belongs
	}
	return field + ".resources"
}

// limit applies item i of a LimitRange to the containers, and reports those that it refuses or changes.
func (a *admission) limit(o *corev1.LimitRange, i int) {
	item := &o.Spec.Limits[i]
	from := func(bound string, name corev1.ResourceName) string {
		return fmt.Sprintf("LimitRange %s/%s (spec.limits[%d].%s.%s)", o.Namespace, o.Name, i, bound, name)
	}
	if item.Type == corev1.LimitTypePersistentVolumeClaim && len(a.claims) > 0 {
		size := a.claims[0].Spec.Resources.Requests[corev1.ResourceStorage]
		const field = "spec.storage.volumeClaimTemplate.spec.resources.requests.storage"
		if most, has := item.Max[corev1.ResourceStorage]; has && size.Cmp(most) > 0 {
			a.say(a.self)(field, "%s is more than the %s of %s, and the API server refuses the volume claims: write less, or raise it there", &size, &most, from("max", corev1.ResourceStorage))
		}
		if least, has := item.Min[corev1.ResourceStorage]; has && size.Cmp(least) < 0 {
			a.say(a.self)(field, "%s is less than the %s of %s, and the API server refuses the volume claims: write more", &size, &least, from("min", corev1.ResourceStorage))
		}
	}
	if item.Type != corev1.LimitTypeContainer {
		return
	}
	defaults, requests := maps.Clone(item.Default), maps.Clone(item.DefaultRequest)
	for name, q := range item.Max {
		setMissing(&defaults, name, q)
	}
	for _, list := range []corev1.ResourceList{defaults, item.Min} {
		for name, q := range list {
			setMissing(&requests, name, q)
		}
	}
	a.eachContainer(func(c *corev1.Container) {
		for _, name := range slices.Sorted(maps.Keys(defaults)) {
			bound := "default"
			if _, own := item.Default[name]; !own {
				bound = "max"
			}
			a.defaulted(c, name, defaults[name], from(bound, name), bound == "max")
			setMissing(&c.Resources.Limits, name, defaults[name])
		}
		for name, q := range requests {
			setMissing(&c.Resources.Requests, name, q)
		}
		for _, side := range []struct {
			name string
			list corev1.ResourceList
		}{{"requests", c.Resources.Requests}, {"limits", c.Resources.Limits}} {
			for _, name := range slices.Sorted(maps.Keys(side.list)) {
				q, field := side.list[name], fmt.Sprintf("%s.%s.%s", a.fieldOf(c.Name), side.name, name)
				if most, has := item.Max[name]; has && q.Cmp(most) > 0 {
					a.refused(field, "container %s has %s, more than the %s of %s, and the API server refuses the pods: write less, or raise it there", c.Name, &q, &most, from("max", name))
				}
				if least, has := item.Min[name]; has && q.Cmp(least) < 0 {
					a.refused(field, "container %s has %s, less than the %s of %s, and the API server refuses the pods: write more, or lower it there", c.Name, &q, &least, from("min", name))
				}
			}
		}
	})
}

// refused reports a container that a LimitRange refuses.
func (a *admission) refused(field, format string, args ...any) {
	a.refuse = true
	if strings.HasPrefix(field, "spec.containers.") {
		field = "spec.containers"
	}
	a.say(a.self)(field, format, args...)
}

// defaulted reports a container that gets a limit from a LimitRange: one below its request is refused, and a limit of
// memory for the server is often too low for it.
func (a *admission) defaulted(c *corev1.Container, name corev1.ResourceName, limit resource.Quantity, from string, most bool) {
	if _, has := c.Resources.Limits[name]; has {
		return
	}
	field, request := a.fieldOf(c.Name), c.Resources.Requests[name]
	switch {
	case most && request.Cmp(limit) > 0: // reported as more than allowed
	case request.Cmp(limit) > 0:
		a.refused(fmt.Sprintf("%s.limits.%s", field, name), "is not set for container %s, and %s gives it %s, less than its request %s, so that the API server refuses the pods: set it", c.Name, from, &limit, &request)
	case name == corev1.ResourceMemory && c.Name == a.pod.Containers[0].Name:
		a.note(a.self)(field+".limits.memory", "is not set, and %s gives container %s %s: if it needs more, it is killed (OOMKilled); set it", from, c.Name, &limit)
	}
}

// quotaOf are the parts of the resources of a container that a name of a ResourceQuota counts.
var quotaOf = map[corev1.ResourceName]struct {
	limits   bool
	resource corev1.ResourceName
}{
	corev1.ResourceCPU: {false, corev1.ResourceCPU}, corev1.ResourceRequestsCPU: {false, corev1.ResourceCPU}, corev1.ResourceLimitsCPU: {true, corev1.ResourceCPU},
	corev1.ResourceMemory: {false, corev1.ResourceMemory}, corev1.ResourceRequestsMemory: {false, corev1.ResourceMemory}, corev1.ResourceLimitsMemory: {true, corev1.ResourceMemory},
}

// quota reports pods that a ResourceQuota refuses: a container lacks what it counts, or all pods together have more.
// Scoped quotas may be for other pods.
func (a *admission) quota(o *corev1.ResourceQuota) {
	if len(o.Spec.Scopes) > 0 || o.Spec.ScopeSelector != nil {
		return
	}
	lack := map[string][]string{} // what containers lack, by their names
	for _, name := range slices.Sorted(maps.Keys(o.Spec.Hard)) {
		hard := o.Spec.Hard[name]
		switch name {
		case corev1.ResourcePods, "count/pods":
			a.over(o, name, "spec.replicas", *resource.NewQuantity(a.pods, resource.DecimalSI), hard)
		case corev1.ResourcePersistentVolumeClaims, "count/persistentvolumeclaims":
			a.over(o, name, "spec.storage", *resource.NewQuantity(a.pods*int64(len(a.claims)), resource.DecimalSI), hard)
		case corev1.ResourceRequestsStorage:
			var sum resource.Quantity
			for _, claim := range a.claims {
				sum.Add(claim.Spec.Resources.Requests[corev1.ResourceStorage])
			}
			sum.Mul(a.pods)
			a.over(o, name, "spec.storage.volumeClaimTemplate.spec.resources.requests.storage", sum, hard)
		default:
			if without := strings.Join(a.counted(o, name, hard), ", "); without != "" {
				lack[without] = append(lack[without], string(name))
			}
		}
	}
	for _, without := range slices.Sorted(maps.Keys(lack)) {
		server, others := a.pod.Containers[0].Name, strings.Split(without, ", ")
		remedy := "set it here"
		if !slices.Contains(others, server) {
			remedy = "set it for them, by their names in spec.containers and spec.initContainers"
		} else if len(others) > 1 {
			remedy = "set it here for " + server + ", and for the others by their names in spec.containers and spec.initContainers"
		}
		a.say(a.self)("spec.resources", "ResourceQuota %s/%s counts %s, so each container needs it, and the API server refuses the pods (FailedCreate: must specify … for: %s): %s, or add a LimitRange with defaults",
			o.Namespace, o.Name, strings.Join(lack[without], ", "), without, remedy)
	}
}

// counted checks the containers for a name of CPU or memory. It returns the containers that do not have it.
func (a *admission) counted(o *corev1.ResourceQuota, name corev1.ResourceName, hard resource.Quantity) (lack []string) {
	part, known := quotaOf[name]
	if !known {
		return nil
	}
	of := func(c *corev1.Container) corev1.ResourceList {
		if part.limits {
			return c.Resources.Limits
		}
		return c.Resources.Requests
	}
	a.eachContainer(func(c *corev1.Container) {
		if _, has := of(c)[part.resource]; !has && !slices.Contains(lack, c.Name) {
			lack = append(lack, c.Name)
		}
	})
	if len(lack) > 0 {
		return lack
	}
	var sum resource.Quantity
	for i := range a.pod.Containers {
		sum.Add(of(&a.pod.Containers[i])[part.resource])
	}
	side := "requests"
	if part.limits {
		side = "limits"
	}
	sum.Mul(a.pods)
	a.over(o, name, fmt.Sprintf("spec.resources.%s.%s", side, part.resource), sum, hard)
	return nil
}

// over reports pods that together have more than a ResourceQuota admits.
func (a *admission) over(o *corev1.ResourceQuota, name corev1.ResourceName, field string, sum, hard resource.Quantity) {
	if sum.Cmp(hard) <= 0 {
		return
	}
	switch name {
	case corev1.ResourcePods, "count/pods", corev1.ResourcePersistentVolumeClaims, "count/persistentvolumeclaims":
		a.say(a.self)(field, "leads to %s %s, more than the %s of ResourceQuota %s/%s (spec.hard), so that the API server refuses the last of them (FailedCreate: exceeded quota): write less, or raise it there", &sum, strings.TrimPrefix(string(name), "count/"), &hard, o.Namespace, o.Name)
	default:
		a.say(a.self)(field, "the %d pods have %s of %s together, more than the %s of ResourceQuota %s/%s (spec.hard), so that the API server refuses the last of them (FailedCreate: exceeded quota): write less, or raise it there", a.pods, &sum, name, &hard, o.Namespace, o.Name)
	}
}
