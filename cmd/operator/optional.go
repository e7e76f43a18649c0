package main

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
)

// optional are permissions that the operator works without, and the consequence.
type optional struct {
	group, resource string
	verbs           []string
	in              func(prometheus.Scopes) []string // namespaces; "" is the whole cluster
	cost            string                           // what happens without them
}

func wholeCluster(prometheus.Scopes) []string     { return []string{""} }
func instances(s prometheus.Scopes) []string      { return s.Instances.Watches() }
func everyNamespace(s prometheus.Scopes) []string { return s.Configs.Union(s.Instances).Watches() }

// Permissions that the operator works without.
var (
	watchNamespaces = &optional{"", "namespaces", []string{"list", "watch"}, wholeCluster,
		"the operator reads the labels of the namespaces in --namespaces one by one every 15s"}
	getNamespaces = &optional{"", "namespaces", []string{"get"}, everyNamespace,
		"namespace selectors match only the label kubernetes.io/metadata.name"}
	watchServices = &optional{"", "services", []string{"list", "watch"}, instances,
		"the operator reads governing Services one by one every minute and reverts edits of them that much later"}
	watchPods = &optional{"", "pods", []string{"watch"}, instances,
		"the operator lists pods every minute (every 5s while some are not ready), and statuses lag that much"}
	patchPods = &optional{"", "pods", []string{"patch"}, instances,
		"the kubelet delivers changes to pods within two minutes (--no-instant-delivery silences this)"}
	growClaims = &optional{"", "persistentvolumeclaims", []string{"list", "watch", "patch"}, instances,
		"volume claims are not expanded when more storage is requested (--no-expand-volume-claims silences this)"}
	getStorageClasses = &optional{"storage.k8s.io", "storageclasses", []string{"get"}, wholeCluster,
		"a missing storage class is not reported"}
	sendEvents = &optional{"events.k8s.io", "events", []string{"create", "patch"}, everyNamespace,
		"no Events: rejected objects appear only in the log and in metrics"}
)

// optionals are those that matter for the flags and scopes.
func (o *Options) optionals(scopes prometheus.Scopes) []*optional {
	out := []*optional{watchServices, watchPods}
	if !scopes.Configs.Union(scopes.Instances).All() { // else they are required
		out = append([]*optional{watchNamespaces, getNamespaces}, out...)
	}
	if o.InstantDelivery {
		out = append(out, patchPods)
	}
	if o.GrowClaims {
		out = append(out, growClaims)
	}
	return append(out, getStorageClasses, sendEvents)
}

// needs are the permissions one by one.
func (p *optional) needs(scopes prometheus.Scopes) []access {
	return accesses(p.group, p.resource, p.in(scopes), p.verbs...)
}

// lacks are optional permissions that are missing, at least in part.
type lacks map[*optional][]access

func (l lacks) has(p *optional) bool { return len(l[p]) > 0 }

// lacking checks optional permissions and logs the missing ones in one warning.
func lacking(ctx context.Context, kube kubernetes.Interface, all []*optional, scopes prometheus.Scopes, log *slog.Logger) (lacks, error) {
	out := lacks{}
	var texts []string
	for _, p := range all {
		if p == getNamespaces && !out.has(watchNamespaces) {
			continue // not used
		}
		missing, err := denied(ctx, kube, p.needs(scopes))
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 {
			out[p] = missing
			texts = append(texts, summary(missing)+": "+p.cost)
		}
	}
	if len(texts) > 0 {
		log.Warn("some permissions are missing; the operator works without them", "no_permission_to", strings.Join(texts, "; "))
	}
	return out, nil
}

// instantDelivery enables the patching of pods as soon as it is permitted.
func instantDelivery(missing lacks, scopes prometheus.Scopes, on *atomic.Bool) *part {
	needs := patchPods.needs(scopes)
	return &part{
		name:  "instant delivery",
		needs: needs,
		told:  lackOf(needs, missing[patchPods]).String(),
		again: time.Now().Add(lookForRights),
		start: func() error { on.Store(true); return nil },
	}
}

// required are the permissions that a controller cannot work without.
func required(owners *prometheus.Kind, scopes prometheus.Scopes) []access {
	read := func(group, resource string, in informer.Namespaces) []access {
		return accesses(group, resource, in.Watches(), "list", "watch")
	}
	group := owners.GroupVersion().Group
	out := read(group, owners.Resource, scopes.Instances)
	out = append(out, accesses(group, owners.Resource+"/status", scopes.Instances.Watches(), "patch")...)
	for _, k := range selectedBy(owners) {
		out = append(out, read(k.version.Group, k.resource, scopes.Configs)...)
	}
	out = append(out, read("", "secrets", scopes.References)...)
	out = append(out, read("", "configmaps", scopes.References)...)
	out = append(out, read("apps", "statefulsets", scopes.Instances)...)
	out = append(out, accesses("", "services", scopes.Instances.Watches(), "get")...)
	out = append(out, accesses("", "pods", scopes.Instances.Watches(), "list")...)
	if scopes.Configs.Union(scopes.Instances).All() {
		out = append(out, accesses("", "namespaces", []string{""}, "list", "watch")...)
	}
	return out
}
