package live

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

const (
	// most is the number of objects of a list that is read.
	most = 2000
	// mostElsewhere is the same for what matches in other namespaces: a hint names some.
	mostElsewhere = 20
	// mostPlaces is the number of namespaces, and of Services, whose surroundings are read.
	mostPlaces = 10
)

// Around looks around in a cluster for one command. It is not safe for concurrent use.
type Around struct {
	ctx    context.Context
	reader readers.Reader
	lists  map[string]list
	may    map[nearmiss.Review]answer
}

// New looks around in a cluster.
func New(ctx context.Context, r readers.Reader) *Around {
	return &Around{ctx: ctx, reader: r, lists: map[string]list{}, may: map[nearmiss.Review]answer{}}
}

// Look implements nearmiss.Look.
func (a *Around) Look(w v1.Workload, uses []nearmiss.Use) (*nearmiss.View, []string) {
	l := &looking{
		Around: a, workload: w, uses: uses, seen: map[string]bool{},
		extent: nearmiss.Extent{Whole: map[string][]string{}, Reviews: map[nearmiss.Review]bool{}},
	}
	for _, u := range uses {
		for _, want := range u.Wants(w.GetNamespace()) {
			l.find(u, want)
		}
	}
	l.permissions()
	return l.view(), l.unknown
}

// looking is one view in the making.
type looking struct {
	*Around
	workload v1.Workload
	uses     []nearmiss.Use

	objects  []nearmiss.Object
	seen     map[string]bool // of them and of monitors, by keyOf
	monitors []catalog.Object
	extent   nearmiss.Extent
	unknown  []string
}

// view is what is known by now.
func (l *looking) view() *nearmiss.View {
	return nearmiss.NewView(l.objects, nil, l.monitors).Within(l.extent)
}

// resources are those of the kinds that are read.
var resources = map[string]schema.GroupVersionResource{
	"Service": readers.Services, "Endpoints": readers.Endpoints, "EndpointSlice": readers.EndpointSlices,
	"Pod": readers.Pods, "Deployment": readers.Deployments, "StatefulSet": readers.StatefulSets, "DaemonSet": readers.DaemonSets,
	"Ingress": readers.Ingresses, "Node": readers.Nodes, "ServiceAccount": readers.ServiceAccounts,
	"Role": readers.Roles, "RoleBinding": readers.RoleBindings, "ClusterRole": readers.ClusterRoles, "ClusterRoleBinding": readers.ClusterRoleBindings,
}

// find reads what a want selects and, where that is nothing, what is near.
func (l *looking) find(u nearmiss.Use, w nearmiss.Want) {
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
	case "Pod": // a port may be one of the Services
		if len(l.view().Hints(u, l.workload.GetNamespace())) > 0 {
			for _, namespace := range l.namespacesOf(w.Kind) {
				l.maybe("Service", readers.Query{Namespace: namespace, Limit: most})
			}
		}
	}
}

// near reads what almost matches: the other objects of the namespaces, and what matches in other
// namespaces.
func (l *looking) near(w nearmiss.Want) {
	if w.Labels != "" && !l.list(w.Kind, w.Namespaces, "") {
		return
	}
	namespaces := w.Namespaces
	if namespaces == nil {
		namespaces = []string{""}
	}
	switch {
	case w.Name != "":
	case w.Kind == "Service": // its selector may be that of pods
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

// namespacesOf are those of the objects of a kind, as far as they matter.
func (l *looking) namespacesOf(kind string) (out []string) {
	for _, o := range l.objects {
		if ns := o.GetNamespace(); l.seen[keyOf(kind, o)] && !slices.Contains(out, ns) && len(out) < mostPlaces {
			out = append(out, ns)
		}
	}
	return out
}

// claims reads the monitors that may select what this one does not. Without permission, a hint
// may name what another monitor selects.
func (l *looking) claims(u nearmiss.Use, w nearmiss.Want) {
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
