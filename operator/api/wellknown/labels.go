package wellknown

// Prefixes of labels and annotations.
const (
	// ReservedPrefix marks keys that only the operator may set: a live one that is not
	// wanted any more is removed.
	ReservedPrefix = "operator.prometheus.io/"
	// KubectlPrefix marks annotations of kubectl.
	KubectlPrefix = "kubectl.kubernetes.io/"
)

// Labels of generated objects.
const (
	LabelManagedBy    = "managed-by"
	LabelAppManagedBy = "app.kubernetes.io/managed-by"
	LabelAppName      = "app.kubernetes.io/name"
	LabelAppInstance  = "app.kubernetes.io/instance"
	LabelAppVersion   = "app.kubernetes.io/version"

	LabelShard      = ReservedPrefix + "shard"
	LabelOwnerName  = ReservedPrefix + "name" // pods of a Prometheus or PrometheusAgent
	LabelMode       = ReservedPrefix + "mode" // server or agent
	LabelPrometheus = "prometheus"            // pods of a Prometheus
	LabelRuleOwner  = "prometheus-name"       // rule ConfigMaps of a Prometheus
	LabelOperated   = "operated-prometheus"   // governing Services of both

	LabelThanosRuler          = "thanos-ruler"          // pods of a ThanosRuler
	LabelThanosRulerRuleOwner = "thanos-ruler-name"     // rule ConfigMaps of a ThanosRuler
	LabelThanosRulerOperated  = "operated-thanos-ruler" // their governing Service

	LabelAlertmanager         = "alertmanager"          // pods of an Alertmanager
	LabelAlertmanagerOperated = "operated-alertmanager" // their governing Service

	// ManagedBy is the value of LabelManagedBy and LabelAppManagedBy.
	ManagedBy = "prometheus-operator"
)

// Having is the label selector of objects whose label has a value.
func Having(label, value string) string { return label + " in (" + value + ")" }

// Annotations of generated objects.
const (
	// AnnotationInputHash carries the hash of everything a StatefulSet was built from.
	AnnotationInputHash = "prometheus-operator-input-hash"
	// AnnotationDeletionDeadline says until when a shard that is not wanted is kept.
	AnnotationDeletionDeadline = ReservedPrefix + "deletion-deadline"
	// AnnotationConfigParts on a configuration Secret names the parts that its list
	// names, by number.
	AnnotationConfigParts = ReservedPrefix + "config-parts"
	// AnnotationRemoteWrite on a pod stands for the remote write configuration that its
	// server read when it started.
	AnnotationRemoteWrite = ReservedPrefix + "remote-write-hash"
	// AnnotationClusterTLS on a pod stands for the file of spec.clusterTLS that its server
	// read when it started.
	AnnotationClusterTLS = ReservedPrefix + "cluster-tls-hash"
	// AnnotationValidated on a PrometheusRule says that it went through the webhook.
	AnnotationValidated = "prometheus-operator-validated"
	// AnnotationDefaultContainer on a pod is the container that kubectl asks.
	AnnotationDefaultContainer = KubectlPrefix + "default-container"
)

// MaxKeyLength is the longest key that the API server takes in a Secret or ConfigMap, in bytes.
const MaxKeyLength = 253
