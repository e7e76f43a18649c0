package evidence

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

const (
	// most is the maximum number of objects that are read per list.
	most = 2000
	// mostElsewhere is the maximum number of objects that are read from other namespaces, since a
	// hint names only a few.
	mostElsewhere = 20
	// mostPlaces is the maximum number of namespaces, and of Services, whose related objects are
	// read.
	mostPlaces = 10
)

// Around reads related objects from a cluster for one command. It is not safe for concurrent use.
type Around struct {
	ctx    context.Context
	reader readers.Reader
	lists  map[string]list
	may    map[nearmiss.Review]answer
}

// New returns a reader of related objects in a cluster.
func New(ctx context.Context, r readers.Reader) *Around {
	return &Around{ctx: ctx, reader: r, lists: map[string]list{}, may: map[nearmiss.Review]answer{}}
}

// Look implements nearmiss.Look.
func (a *Around) Look(w v1.Workload, uses []nearmiss.Use) (*nearmiss.View, []string) {
	l := &search{
		Around: a, workload: w, uses: uses, seen: map[string]bool{},
		extent: nearmiss.Extent{Whole: map[string][]string{}, Reviews: map[nearmiss.Review]bool{}},
	}
	for _, u := range uses {
		for _, want := range u.Wants(w.GetNamespace()) {
			l.find(u, want)
		}
	}
	l.policies()
	l.permissions()
	return l.view(), l.unknown
}

// search is a view under construction.
type search struct {
	*Around
	workload v1.Workload
	uses     []nearmiss.Use

	objects  []nearmiss.Object
	seen     map[string]bool // of objects and monitors, by keyOf
	monitors []catalog.Object
	extent   nearmiss.Extent
	unknown  []string
}

// view returns a view of the objects read so far.
func (l *search) view() *nearmiss.View {
	return nearmiss.NewView(l.objects, nil, l.monitors).Within(l.extent)
}

// resources maps the kinds that are read to their resources.
var resources = map[string]schema.GroupVersionResource{
	"Service": readers.Services, "Endpoints": readers.Endpoints, "EndpointSlice": readers.EndpointSlices,
	"Pod": readers.Pods, "Deployment": readers.Deployments, "StatefulSet": readers.StatefulSets, "DaemonSet": readers.DaemonSets,
	"Ingress": readers.Ingresses, "Namespace": readers.Namespaces, "NetworkPolicy": readers.NetworkPolicies, "Node": readers.Nodes, "ServiceAccount": readers.ServiceAccounts,
	"Role": readers.Roles, "RoleBinding": readers.RoleBindings, "ClusterRole": readers.ClusterRoles, "ClusterRoleBinding": readers.ClusterRoleBindings,
}

// find reads the objects that a want selects or, if there are none, similar ones.
func (l *search) find(u nearmiss.Use, w nearmiss.Want) {
	if !l.list(w.Kind, w.Namespaces, w.Labels) {
		return
	}
	if !l.view().Finds(u, w) {
		l.near(w)
		l.claims(u, w)
		return
	}
	switch w.Kind {
	case "Service":
		l.behind(u, w)
	case "Pod": // the port may belong to one of the Services
		if len(l.view().Hints(u, l.workload.GetNamespace())) > 0 {
			for _, namespace := range l.namespacesOf(w.Kind) {
				l.maybe("Service", readers.Query{Namespace: namespace, Limit: most})
			}
		}
	}
}

// policies reads the NetworkPolicies around the pods that are found and those of the workload and, if there are any,
// the pods of the workload, which they may isolate.
func (l *search) policies() {
	before, around := len(l.objects), l.namespacesOf("Pod")
	if own := l.workload.GetNamespace(); len(around) > 0 && !slices.Contains(around, own) {
		around = append(around, own)
	}
	for _, namespace := range around {
		l.maybe("NetworkPolicy", readers.Query{Namespace: namespace, Limit: most})
	}
	if len(l.objects) > before {
		own := fmt.Sprintf("%s=%s,%s=%s", wellknown.LabelAppManagedBy, wellknown.ManagedBy, wellknown.LabelAppInstance, l.workload.GetName())
		l.maybe("Pod", readers.Query{Namespace: l.workload.GetNamespace(), Labels: own, Limit: 1})
		l.maybe("Namespace", readers.Query{Name: l.workload.GetNamespace(), Limit: 1}) // policies select it by labels
	}
}

// near reads objects that almost match: other objects in the same namespaces, and matching objects
// in other namespaces.
func (l *search) near(w nearmiss.Want) {
	if w.Labels != "" && !l.list(w.Kind, w.Namespaces, "") {
		return
	}
	namespaces := w.Namespaces
	if namespaces == nil {
		namespaces = []string{""}
	}
	switch {
	case w.Name != "":
	case w.Kind == "Service": // the selector may be meant for pods
		l.list("Pod", w.Namespaces, "")
	case w.Kind == "Pod":
		l.list("Service", w.Namespaces, "")
		for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
			for _, namespace := range namespaces[:min(len(namespaces), mostPlaces)] {
				l.maybe(kind, readers.Query{Namespace: namespace, Labels: w.Labels, Limit: mostElsewhere})
			}
		}
	}
	if w.Namespaces == nil || w.Labels+w.Name == "" {
		return
	}
	elsewhere := readers.Query{GroupVersionResource: resources[w.Kind], Name: w.Name, Labels: w.Labels, Limit: mostElsewhere}
	if err := l.take(w.Kind, elsewhere); err != nil {
		l.isUnknown("whether other namespaces have what it looks for: " + readers.Why(err, "list", elsewhere.String()))
	}
}

// namespacesOf returns the namespaces of the objects of a kind, up to mostPlaces.
func (l *search) namespacesOf(kind string) (out []string) {
	for _, o := range l.objects {
		if ns := o.GetNamespace(); l.seen[keyOf(kind, o)] && !slices.Contains(out, ns) && len(out) < mostPlaces {
			out = append(out, ns)
		}
	}
	return out
}

// claims reads other monitors that may select the near objects. Without permission, a hint may name
// an object that another monitor selects.
func (l *search) claims(u nearmiss.Use, w nearmiss.Want) {
	row := catalog.Of(u.Kind)
	if row != catalog.ServiceMonitor && row != catalog.PodMonitor {
		return
	}
	all := append(l.namespacesOf(w.Kind), u.Object.GetNamespace())
	slices.Sort(all)
	for _, namespace := range slices.Compact(all) {
		q := readers.Query{GroupVersionResource: row.GroupVersionResource(), Namespace: namespace, Limit: most}
		for _, o := range l.read(q).objects {
			if key := keyOf(u.Kind, o); !l.seen[key] {
				l.seen[key] = true
				l.monitors = append(l.monitors, o)
			}
		}
	}
}
