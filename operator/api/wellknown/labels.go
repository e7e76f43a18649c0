package wellknown

// Prefixes of labels and annotations.
const (
	// ReservedPrefix is the prefix of keys that only the operator may set. It removes unwanted
	// ones from live objects.
	ReservedPrefix = "operator.prometheus.io/"
	// KubectlPrefix is the prefix of kubectl's annotations.
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

// Having returns the label selector for objects whose label has a value.
func Having(label, value string) string { return label + " in (" + value + ")" }

// Annotations of generated objects.
const (
	// AnnotationInputHash is the hash of everything from which a StatefulSet was built.
	AnnotationInputHash = "prometheus-operator-input-hash"
	// AnnotationDeletionDeadline is the time until which an unwanted shard is kept.
	AnnotationDeletionDeadline = ReservedPrefix + "deletion-deadline"
	// AnnotationConfigParts lists the numbers of the parts in the list of a configuration
	// Secret.
	AnnotationConfigParts = ReservedPrefix + "config-parts"
	// AnnotationRemoteWrite is set on pods: a hash of the remote write configuration that the
	// server read at startup.
	AnnotationRemoteWrite = ReservedPrefix + "remote-write-hash"
	// AnnotationClusterTLS is set on pods: a hash of the file of spec.clusterTLS that the
	// server read at startup.
	AnnotationClusterTLS = ReservedPrefix + "cluster-tls-hash"
	// AnnotationValidated is set on a PrometheusRule that the webhook has validated.
	AnnotationValidated = "prometheus-operator-validated"
	// AnnotationDefaultContainer is set on pods: kubectl's default container.
	AnnotationDefaultContainer = KubectlPrefix + "default-container"
)

// MaxKeyLength is the maximum length of a key of a Secret or ConfigMap, in bytes.
const MaxKeyLength = 253
