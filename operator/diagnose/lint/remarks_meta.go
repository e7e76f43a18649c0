package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
)

const metaPrefix = "__meta_kubernetes_"

// metaLabels are the labels of discovered targets without [metaPrefix], by the object that they
// describe. All of these objects except endpoint also have labels and annotations.
var metaLabels = map[string][]string{
	"namespace": {"namespace"},
	"pod": {"pod_name", "pod_ip", "pod_container_init", "pod_container_name", "pod_container_id", "pod_container_image",
		"pod_container_port_name", "pod_container_port_number", "pod_container_port_protocol", "pod_ready", "pod_phase", "pod_node_name",
		"pod_host_ip", "pod_uid", "pod_controller_kind", "pod_controller_name", "pod_deployment_name", "pod_cronjob_name", "pod_job_name"},
	"service": {"service_name", "service_cluster_ip", "service_external_name", "service_loadbalancer_ip", "service_port_name",
		"service_port_number", "service_port_protocol", "service_type"},
	"endpoints": {"endpoints_name"},
	"endpoint": {"endpoint_hostname", "endpoint_node_name", "endpoint_ready", "endpoint_port_name", "endpoint_port_protocol",
		"endpoint_address_target_kind", "endpoint_address_target_name"},
	"endpointslice": {"endpointslice_name", "endpointslice_address_type", "endpointslice_address_target_kind", "endpointslice_address_target_name",
		"endpointslice_endpoint_conditions_ready", "endpointslice_endpoint_conditions_serving", "endpointslice_endpoint_conditions_terminating",
		"endpointslice_endpoint_hostname", "endpointslice_endpoint_node_name", "endpointslice_endpoint_zone", "endpointslice_port",
		"endpointslice_port_name", "endpointslice_port_protocol", "endpointslice_port_app_protocol"},
	"node":    {"node_name", "node_provider_id"},
	"ingress": {"ingress_name", "ingress_scheme", "ingress_host", "ingress_path", "ingress_class_name"},
}

// metaObjects are the objects whose labels the targets of a role have. Labels of nodes require
// attachMetadata, except with the role Node.
var metaObjects = map[string][]string{
	"pod":           {"namespace", "pod", "node"},
	"endpoints":     {"namespace", "endpoints", "endpoint", "service", "pod", "node"},
	"endpointslice": {"namespace", "endpointslice", "service", "pod", "node"},
	"service":       {"namespace", "service"},
	"ingress":       {"namespace", "ingress"},
	"node":          {"node"},
}

// freeMeta are the parts after the object in labels with a free suffix.
var freeMeta = []string{"_label_", "_labelpresent_", "_annotation_", "_annotationpresent_", "_address_", "_condition_", "_endpoint_topology_", "_endpoint_topology_present_"}

// discovered describes which labels targets have before relabeling.
type discovered struct {
	roles  []string // possible roles, in lower case
	node   bool     // node metadata is attached
	attach string   // field that attaches it
	said   int      // number of remarks
	// unknown is set if a role is not known.
	unknown bool
}

// mostMeta is the maximum number of remarks about one object, because each requires a comparison
// with all names.
const mostMeta = 100

// metaRemarks reports source labels that discovery does not set, so their value is always empty, and steps that copy such
// labels.
func (d *discovered) metaRemarks(say says, path string, steps []v1.RelabelConfig) {
	set := nearmiss.SetLabels{}
	for i := range steps {
		s := &steps[i]
		action := strings.ToLower(s.Action)
		for j, label := range s.SourceLabels {
			if d.unknown || d.said == mostMeta {
				return
			}
			if set.Has(string(label)) {
				continue
			}
			if why := d.missing(string(label), emptySource(s, action, targets)); why != "" {
				d.said++
				say(fmt.Sprintf("%s[%d].sourceLabels[%d]", path, i, j), "%s", why)
			}
		}
		if action == "labelmap" && !d.unknown && d.said < mostMeta {
			if why := d.unmapped(s.Regex); why != "" {
				d.said++
				say(fmt.Sprintf("%s[%d].regex", path, i), "%s", why)
			}
		}
		set.Add(s)
	}
}

// unmapped returns why targets have none of the labels that a regex of labelmap matches; empty if they may have one.
func (d *discovered) unmapped(regex string) (why string) {
	shapes := shapesOf(parsed(regex))
	for _, s := range shapes {
		name, known := strings.CutPrefix(s.text, metaPrefix)
		if !known || metaObject(name) == "" && (len(shapes) > 1 || !s.whole && begins(name)) { // names that are not known are compared with all
			return ""
		}
		reason := d.missing(s.text, ", so the step copies nothing")
		if reason == "" {
			return ""
		}
		why = cmp.Or(why, reason)
	}
	return why
}

// begins reports whether a name of a label of discovery begins with a text.
func begins(text string) bool {
	for object, names := range metaLabels {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, text) }) {
			return true
		}
		for _, more := range freeMeta {
			if strings.HasPrefix(object+more, text) {
				return true
			}
		}
	}
	return false
}

// almostMeta matches names of labels that begin almost like those of the discovery of Kubernetes.
var almostMeta = lazyregexp.New(`^_{0,3}meta_{0,2}kube[a-z]*_+`)

// missing returns why targets do not have a label; empty if they may have it. effect is the one of the step, as the
// continuation of a sentence, or empty.
func (d *discovered) missing(label, effect string) string {
	const most = 120 // longer names are not compared
	begin := almostMeta.Get().FindString(label)
	if begin == "" || len(label) > most {
		return ""
	}
	name, known := label[len(begin):], begin == metaPrefix
	clean := unnamed.ReplaceAllString(name, "_")
	switch ours := strings.HasPrefix(begin, "__meta_"); {
	case !known && !ours && metaObject(clean) == "":
		return "" // a label with a name of its own
	case !known && metaObject(clean) != "":
		return misnamed(clean, effect)
	case clean != name:
		return fmt.Sprintf("no target has a label of this name: discovery writes every character but letters, digits and _ as _; write %s", begin+clean)
	}
	var may []string
	for _, role := range d.roles {
		may = append(may, metaObjects[role]...)
	}
	object := ""
	if known {
		object = metaObject(name)
	}
	switch {
	case object == "":
		return unknownMeta(name, effect, may)
	case object == "namespace" && name != object:
		return "labels and annotations of namespaces are not known to Prometheus here: discovery attaches them by a setting that this API does not have"
	case !slices.Contains(may, object):
		return fmt.Sprintf("targets of this job have no labels of the %s, because their role is %s%s", metaNouns[object], strings.Join(d.roles, ", "), instead(name, may))
	case object == "node" && !d.node && !slices.Contains(d.roles, "node"):
		other := ""
		if name == "node_name" {
			other = "; the name is in " + metaPrefix + "pod_node_name, too"
		}
		return fmt.Sprintf("targets have labels of their node only with %s: true%s", d.attach, other)
	}
	return ""
}

// misnamed returns the message about a label that is almost one of discovery.
func misnamed(meant, effect string) string {
	if effect != "" {
		effect += ";"
	} else {
		effect = ","
	}
	return fmt.Sprintf("no discovery sets this label%s did you mean %q?", effect, metaPrefix+meant)
}

// plurals matches the part of a label before the name that a user gave, in the plural.
var plurals = lazyregexp.New(`_(label|annotation)s?(present)?s?_`)

// unknownMeta returns the message about a label that no discovery sets, with a similar one. may are the objects whose
// labels targets have, name is the label without its prefix.
func unknownMeta(name, effect string, may []string) string {
	var all []string
	for _, of := range may {
		all = append(all, metaLabels[of]...)
	}
	meant := manifest.Similar(name, all)
	if i := slices.IndexFunc(all, func(longer string) bool { return longer == name+"_name" }); i >= 0 {
		meant = all[i]
	}
	if at := plurals.Get().FindStringIndex(name); at != nil {
		if single := name[:at[0]] + plurals.ReplaceAllString(name[at[0]:at[1]], "_${1}${2}_") + name[at[1]:]; metaObject(single) != "" {
			meant = single
		}
	}
	if meant != "" {
		return misnamed(meant, effect)
	}
	return "no discovery sets this label, so its value is always empty"
}

// unnamed matches characters that the names of discovered labels cannot contain.
var unnamed = lazyregexp.New(`[^a-zA-Z0-9_]`)

// metaNouns are the human-readable names of the objects.
var metaNouns = map[string]string{
	"namespace": "namespace", "pod": "pod", "service": "Service", "endpoints": "Endpoints", "endpoint": "Endpoints",
	"endpointslice": "EndpointSlice", "node": "node", "ingress": "Ingress",
}

// metaObject returns the object that a label describes; empty if there is no such label.
func metaObject(name string) string {
	for object, names := range metaLabels {
		rest, of := strings.CutPrefix(name, object)
		if slices.Contains(names, name) || of && object != "endpoint" && slices.ContainsFunc(freeMeta, func(part string) bool { return strings.HasPrefix(rest, part) }) {
			return object
		}
	}
	return ""
}

// instead suggests the equivalent label of the other kind of endpoints; empty if there is none.
func instead(name string, may []string) string {
	pairs := [][2]string{{"endpoint_", "endpointslice_"}, {"endpoint_", "endpointslice_endpoint_"}, {"endpoints_", "endpointslice_"}}
	for _, p := range pairs {
		for _, way := range [][2]string{{p[0], p[1]}, {p[1], p[0]}} {
			rest, is := strings.CutPrefix(name, way[0])
			if other := metaObject(way[1] + rest); is && slices.Contains(may, other) {
				return "; there is " + metaPrefix + way[1] + rest
			}
		}
	}
	return ""
}

// rolesOf returns the roles and attached metadata of the Kubernetes discovery of a ScrapeConfig.
func rolesOf(m *v1alpha1.ScrapeConfig) *discovered {
	d := &discovered{attach: "kubernetesSDConfigs[].attachMetadata.node"}
	for _, sd := range m.Spec.KubernetesSDConfigs {
		role := strings.ToLower(string(sd.Role))
		if metaObjects[role] == nil { // reported as wrong; which labels it would set is unknown
			return &discovered{unknown: true}
		}
		if !slices.Contains(d.roles, role) {
			d.roles = append(d.roles, role)
		}
		d.node = d.node || sd.AttachMetadata != nil && ptr.Deref(sd.AttachMetadata.Node, false)
	}
	return d
}

// discoveredBy describes the labels of the targets of a ServiceMonitor or PodMonitor. If f is nil, node
// metadata may be attached, because the scrape classes are unknown.
func discoveredBy(own *v1.AttachMetadata, f *v1.CommonPrometheusFields, roles ...string) *discovered {
	d := &discovered{roles: roles, attach: "spec.attachMetadata.node"}
	if own != nil {
		d.node = ptr.Deref(own.Node, false)
	} else {
		d.node = f == nil || slices.ContainsFunc(f.ScrapeClasses, func(c v1.ScrapeClass) bool { return c.AttachMetadata != nil && ptr.Deref(c.AttachMetadata.Node, false) })
	}
	d.node = d.node || f != nil && f.ShardingStrategy != nil
	return d
}

// rolesOfServices returns the roles that a workload may use to discover the targets of a ServiceMonitor.
func rolesOfServices(m *v1.ServiceMonitor, f *v1.CommonPrometheusFields) []string {
	role := m.Spec.ServiceDiscoveryRole
	switch {
	case role == "" && f == nil:
		return []string{"endpoints", "endpointslice"}
	case role == "":
		role = cmp.Or(f.ServiceDiscoveryRole, v1.EndpointsRole)
	}
	return []string{strings.ToLower(string(role))}
}
