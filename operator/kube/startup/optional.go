package startup

import (
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Scopes are the namespaces in which the operator needs permissions.
type Scopes struct {
	Instances  informer.Namespaces // workload objects and what is generated for them
	Configs    informer.Namespaces // monitors and rules
	References informer.Namespaces // Secrets and ConfigMaps that are referred to
}

// all are the namespaces of workload, monitor and rule objects.
func (s Scopes) all() informer.Namespaces { return s.Configs.Union(s.Instances) }

// Optional are permissions that the operator works without, and the consequence.
type Optional struct {
	Group, Resource string
	Verbs           []string
	In              func(Scopes) []string // namespaces; "" is the whole cluster
	Cost            string                // what happens without them
	Instead         *Optional             // needed only if these are missing
}

func wholeCluster(Scopes) []string     { return []string{""} }
func instances(s Scopes) []string      { return s.Instances.Watches() }
func references(s Scopes) []string     { return s.References.Watches() }
func everyNamespace(s Scopes) []string { return s.all().Watches() }

// namedNamespaces is for what is required, and thus not optional, when all
// namespaces are watched.
func namedNamespaces(in func(Scopes) []string) func(Scopes) []string {
	return func(s Scopes) []string {
		if s.all().All() {
			return nil
		}
		return in(s)
	}
}

// Permissions that the operator works without.
var (
	watchNamespaces = &Optional{Resource: "namespaces", Verbs: []string{"list", "watch"}, In: namedNamespaces(wholeCluster),
		Cost: "the operator reads the labels of the namespaces in --namespaces one by one every 15s"}
	getNamespaces = &Optional{Resource: "namespaces", Verbs: []string{"get"}, In: namedNamespaces(everyNamespace), Instead: watchNamespaces,
		Cost: "namespace selectors match only the label kubernetes.io/metadata.name"}
	watchServices = &Optional{Resource: "services", Verbs: []string{"list", "watch"}, In: instances,
		Cost: "the operator reads governing Services one by one every minute and reverts edits of them that much later"}
	watchSecrets = &Optional{Resource: "secrets", Verbs: []string{"list", "watch"}, In: references,
		Cost: "the operator gets the Secrets it needs by name every 40s, except in namespaces whose Roles permit list and watch"}
	watchConfigMaps = &Optional{Resource: "configmaps", Verbs: []string{"list", "watch"}, In: references,
		Cost: "the operator gets the ConfigMaps it needs likewise"}
	watchPods = &Optional{Resource: "pods", Verbs: []string{"watch"}, In: instances,
		Cost: "the operator lists pods every minute (every 5s while some are not ready), and statuses lag that much"}
	// PatchPods is for instant delivery.
	PatchPods = &Optional{Resource: "pods", Verbs: []string{"patch"}, In: instances,
		Cost: "the kubelet delivers changes to pods within two minutes (--no-instant-delivery silences this)"}
	// ExpandClaims is for volume claims that grow with the storage of their object.
	ExpandClaims = &Optional{Resource: "persistentvolumeclaims", Verbs: []string{"list", "watch", "patch"}, In: instances,
		Cost: "volume claims are not expanded when more storage is requested (--no-expand-volume-claims silences this)"}
	// GetStorageClasses is for checking the storage class of an object.
	GetStorageClasses = &Optional{Group: "storage.k8s.io", Resource: "storageclasses", Verbs: []string{"get"}, In: wholeCluster,
		Cost: "a missing storage class is not reported"}
	// SendEvents is for Events about objects.
	SendEvents = &Optional{Group: "events.k8s.io", Resource: "events", Verbs: []string{"create", "patch"}, In: everyNamespace,
		Cost: "no Events: rejected objects appear only in the log and in metrics"}
)

// Optionals are all optional permissions, in the order of the log.
func Optionals() []*Optional {
	return []*Optional{watchNamespaces, getNamespaces, watchSecrets, watchConfigMaps, watchServices, watchPods, PatchPods, ExpandClaims, GetStorageClasses, SendEvents}
}

// permissions are the single ones.
func (p *Optional) permissions(scopes Scopes) []Permission {
	return Permissions(p.Group, p.Resource, p.In(scopes), p.Verbs...)
}
