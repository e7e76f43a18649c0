package startup

import (
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Scopes holds the namespaces in which the operator needs permissions.
type Scopes struct {
	Instances  informer.Namespaces // of workload objects and the objects generated for them
	Configs    informer.Namespaces // of monitors and rules
	References informer.Namespaces // of referenced Secrets and ConfigMaps
}

// all returns the namespaces of workloads, monitors and rules.
func (s Scopes) all() informer.Namespaces { return s.Configs.Union(s.Instances) }

// Optional is a set of permissions that the operator can do without.
type Optional struct {
	Group, Resource string
	Verbs           []string
	In              func(Scopes) []string // returns the namespaces; "" means the whole cluster
	Cost            string                // consequence of missing permissions
	Instead         *Optional             // the permissions are needed only if those of Instead are missing
}

func wholeCluster(Scopes) []string     { return []string{""} }
func instances(s Scopes) []string      { return s.Instances.Watches() }
func references(s Scopes) []string     { return s.References.Watches() }
func everyNamespace(s Scopes) []string { return s.all().Watches() }

// namedNamespaces restricts in to operators with --namespaces. An operator that watches
// all namespaces requires the permissions, so they are not optional.
func namedNamespaces(in func(Scopes) []string) func(Scopes) []string {
	return func(s Scopes) []string {
		if s.all().All() {
			return nil
		}
		return in(s)
	}
}

// Permissions that the operator can do without.
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
	// PatchPods permits instant delivery.
	PatchPods = &Optional{Resource: "pods", Verbs: []string{"patch"}, In: instances,
		Cost: "the kubelet delivers changes to pods within two minutes (--no-instant-delivery silences this)"}
	// ExpandClaims permits expanding volume claims when the storage request of their
	// object grows.
	ExpandClaims = &Optional{Resource: "persistentvolumeclaims", Verbs: []string{"list", "watch", "patch"}, In: instances,
		Cost: "volume claims are not expanded when more storage is requested (--no-expand-volume-claims silences this)"}
	// GetStorageClasses permits checking that the storage class of an object exists.
	GetStorageClasses = &Optional{Group: "storage.k8s.io", Resource: "storageclasses", Verbs: []string{"get"}, In: wholeCluster,
		Cost: "a missing storage class is not reported"}
	// SendEvents permits recording Events for objects.
	SendEvents = &Optional{Group: "events.k8s.io", Resource: "events", Verbs: []string{"create", "patch"}, In: everyNamespace,
		Cost: "no Events: rejected objects appear only in the log and in metrics"}
)

// Optionals returns all optional permissions in the order in which they are logged.
func Optionals() []*Optional {
	return []*Optional{watchNamespaces, getNamespaces, watchSecrets, watchConfigMaps, watchServices, watchPods, PatchPods, ExpandClaims, GetStorageClasses, SendEvents}
}

// permissions returns one Permission per namespace and verb.
func (p *Optional) permissions(scopes Scopes) []Permission {
	return Permissions(p.Group, p.Resource, p.In(scopes), p.Verbs...)
}
