package permissions

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Place is the scope in which the rules of a feature must be granted.
type Place string

const (
	// Namespaces means the namespaces that the operator watches: a ClusterRole, or a Role
	// in each of --namespaces.
	Namespaces Place = "namespaces"
	// Cluster means cluster-scoped objects, which only a ClusterRole can grant.
	Cluster Place = "cluster"
	// Kubelet means the namespace of --kubelet-service.
	Kubelet Place = "kubelet"
	// Own means the namespace of the operator.
	Own Place = "own"
)

// Feature is a function of the operator with the permissions that it needs.
type Feature struct {
	Name  string
	When  string // what enables it; empty: always enabled
	Cost  string // consequence of missing permissions
	Place Place
	File  string // manifest below deploy that grants Rules
	Rules []rbacv1.PolicyRule
}

// Manifests that grant permissions, below deploy.
const (
	Base            = "rbac.yaml"
	kubeletManifest = "components/kubelet/rbac.yaml"
	leaderManifest  = "components/high-availability/rbac.yaml"
	watchManifest   = "components/least-privilege/watch.yaml"
	certsManifest   = "components/webhook-certificates/rbac.yaml"
	targetsManifest = "components/http-api/targets.yaml"
	notStarted      = "no controller starts"
)

var monitoring = v1.SchemeGroupVersion.Group

func rule(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

func named(r rbacv1.PolicyRule, names ...string) rbacv1.PolicyRule {
	r.ResourceNames = names
	return r
}

func one(resource string) []string { return []string{resource} }

// workloads returns the resources of the workloads in the monitoring group, each with the suffix sub.
func workloads(sub string) []string {
	return resources(sub, func(row *catalog.Row) bool { return row.Flags != "" })
}

// selectables returns the other resources of the monitoring group, each with the suffix sub.
func selectables(sub string) []string {
	return resources(sub, func(row *catalog.Row) bool { return row.Flags == "" })
}

func resources(sub string, is func(*catalog.Row) bool) (out []string) {
	for _, row := range catalog.All {
		if is(row) && !slices.Contains(out, row.Resource+sub) {
			out = append(out, row.Resource+sub)
		}
	}
	return out
}

// features returns the features and their permissions, required ones first.
func features() []Feature { return append(always(), optional()...) }

// always returns the features without which no controller starts or can write.
func always() []Feature {
	return []Feature{
		{
			Name: "read workloads, monitors and rules", Cost: notStarted, Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{rule(monitoring, append(workloads(""), selectables("")...), "list", "watch")},
		},
		{
			Name: "write statuses of workloads", Cost: notStarted, Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{rule(monitoring, workloads("/status"), "patch")},
		},
		{
			Name: "write generated objects", Cost: "conditions name what is missing", Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{
				rule("apps", one("statefulsets"), "get", "list", "watch", "create", "update", "patch", "delete"),
				rule("", []string{"configmaps", "secrets"}, "get", "create", "update", "delete"),
				rule("", one("services"), "get", "create", "update", "delete"),
				rule("", one("pods"), "list", "delete"),
			},
		},
	}
}

// watching permits list and watch of Secrets and ConfigMaps, both referenced and generated
// ones. It is part of the base and removed by the component least-privilege.
var watching = Feature{
	Name: "watch Secrets and ConfigMaps", Place: Namespaces, File: Base,
	Cost:  "the operator gets those it needs by name every 40s; a Role in a namespace is enough to watch there",
	Rules: []rbacv1.PolicyRule{rule("", []string{"configmaps", "secrets"}, "list", "watch")},
}

// optional returns the features that depend on flags or that the operator can do without.
func optional() []Feature {
	return append([]Feature{
		watching,
		{
			Name: "owner references", When: "the admission plugin OwnerReferencesPermissionEnforcement of the cluster",
			Cost: "the API server refuses generated objects", Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{rule(monitoring, workloads("/finalizers"), "update")},
		},
		{
			Name: "statuses of monitors and rules", When: "the feature gate StatusForConfigurationResources",
			Cost: "the operator ends with an error; if it is about AlertmanagerConfigs and Alertmanagers, their statuses are not written", Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{rule(monitoring, workloads(""), "patch"), rule(monitoring, selectables("/status"), "update", "patch")},
		},
		{
			Name: "agents as DaemonSets", When: "the feature gate PrometheusAgentDaemonSet",
			Cost: "the operator ends with an error", Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{rule("apps", one("daemonsets"), "get", "list", "watch", "create", "update", "delete")},
		},
		{
			Name: "watch Services", Cost: "the operator gets governing Services by name every minute", Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{rule("", one("services"), "list", "watch")},
		},
		{
			Name: "watch pods", Cost: "the operator lists pods every minute, every 5s while some are not ready", Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{rule("", one("pods"), "watch")},
		},
		{
			Name: "instant delivery", When: "unless --no-instant-delivery", Cost: "changes reach pods within two minutes", Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{rule("", one("pods"), "patch")},
		},
		{
			Name: "expand volume claims", When: "unless --no-expand-volume-claims", Cost: "volume claims do not grow", Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{rule("", one("persistentvolumeclaims"), "list", "watch", "patch")},
		},
		{
			Name: "evict pods", When: "--repair-policy-for-statefulsets=evict", Cost: "stuck rollouts are not repaired", Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{rule("", one("pods/eviction"), "create")},
		},
		{
			Name: "Events", Cost: "rejected objects appear only in the log and in metrics", Place: Namespaces, File: Base,
			Rules: []rbacv1.PolicyRule{rule("events.k8s.io", one("events"), "create", "patch")},
		},
		{
			Name: "labels of namespaces", Cost: "without --namespaces no controller starts; with it `get` on these namespaces is enough", Place: Cluster, File: Base,
			Rules: []rbacv1.PolicyRule{rule("", one("namespaces"), "list", "watch")},
		},
		{
			Name: "check storage classes", Cost: "a missing storage class is not reported", Place: Cluster, File: Base,
			Rules: []rbacv1.PolicyRule{rule("storage.k8s.io", one("storageclasses"), "get")},
		},
	}, components()...)
}

// components returns the features that are granted by components of deploy.
func components() []Feature {
	return []Feature{
		{
			Name: "find nodes", When: "--kubelet-service", Cost: "the kubelet Service is not kept", Place: Cluster, File: kubeletManifest,
			Rules: []rbacv1.PolicyRule{rule("", one("nodes"), "list", "watch")},
		},
		{
			Name: "kubelet Service", When: "--kubelet-service", Cost: "the kubelet Service is not kept", Place: Kubelet, File: kubeletManifest,
			Rules: []rbacv1.PolicyRule{
				rule("", one("services"), "get", "create", "update"), rule("", one("services/finalizers"), "update"),
				rule("", one("endpoints"), "get", "create", "update", "delete"),
				rule("discovery.k8s.io", one("endpointslices"), "list", "create", "update", "delete"),
			},
		},
		{
			Name: "targets in the HTTP API", When: "unless --web.api=off, once a client requests targets",
			Cost: "the API and its pages name what they cannot read", Place: Namespaces, File: targetsManifest,
			Rules: []rbacv1.PolicyRule{
				rule("", []string{"endpoints", "pods", "services"}, "list", "watch"), rule("discovery.k8s.io", one("endpointslices"), "list", "watch"),
				rule("networking.k8s.io", one("ingresses"), "list", "watch"),
			},
		},
		{
			Name: "nodes of targets in the HTTP API", When: "unless --web.api=off, for jobs with labels of nodes",
			Cost: "the API and its pages name what they cannot read", Place: Cluster, File: targetsManifest,
			Rules: []rbacv1.PolicyRule{rule("", one("nodes"), "list", "watch")},
		},
		{
			Name: "leader election", When: "--leader-elect", Cost: "no replica leads", Place: Own, File: leaderManifest,
			Rules: []rbacv1.PolicyRule{
				rule("coordination.k8s.io", one("leases"), "create"),
				named(rule("coordination.k8s.io", one("leases"), "get", "update"), "prometheus-operator"),
			},
		},
		{
			Name: "Secret of the webhooks", When: "--manage-webhook-certificates", Cost: "the certificate is not kept", Place: Own, File: certsManifest,
			Rules: []rbacv1.PolicyRule{
				rule("", one("secrets"), "create"),
				named(rule("", one("secrets"), "get", "update"), "admission-webhook-certs"),
			},
		},
		{
			Name: "CA of the webhooks", When: "--manage-webhook-certificates", Cost: "the certificate is not kept", Place: Cluster, File: certsManifest,
			Rules: []rbacv1.PolicyRule{
				named(rule("admissionregistration.k8s.io", []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"}, "get", "patch"),
					"firekeeper-prometheusrules", "firekeeper-alertmanagerconfigs", "firekeeper-validate-all"),
				named(rule("apiextensions.k8s.io", one("customresourcedefinitions"), "get", "patch"), "alertmanagerconfigs.monitoring.coreos.com"),
			},
		},
	}
}
