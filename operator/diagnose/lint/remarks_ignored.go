package lint

import (
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// ignoredRemarks reports fields of a workload that the CRD accepts and the operator does not use.
func ignoredRemarks(say says, w v1.Workload) {
	if m := w.GetWorkloadFields().PodMetadata; m != nil && m.Name != "" {
		say("spec.podMetadata.name", "has no effect, because the names of pods begin with that of their StatefulSet or DaemonSet: remove it")
	}
	switch o := w.(type) {
	case *v1.Prometheus:
		if t := o.Spec.Thanos; t != nil {
			grpcRemarks(say, "spec.thanos.grpcServerTlsConfig", "spec.thanos.volumeMounts", t.GRPCServerTLSConfig)
			sidecarMountRemarks(say, t.VolumeMounts)
		}
	case *v1.ThanosRuler:
		grpcRemarks(say, "spec.grpcServerTlsConfig", "spec.volumeMounts", o.Spec.GRPCServerTLSConfig)
		if s := o.Spec.Storage; s != nil && s.DisableMountSubPath {
			say("spec.storage.disableMountSubPath", "has no effect, because a ThanosRuler has its data in the root of the volume in any case: remove it")
		}
	case *v1.Alertmanager:
		if t := o.Spec.ClusterTLS; t != nil {
			clientVersionRemarks(say, &t.Client)
		}
	case *v1alpha1.PrometheusAgent:
		if o.Spec.Mode == v1alpha1.DaemonSetPrometheusAgentMode {
			daemonSetRemarks(say, &o.Spec.WorkloadFields)
		}
	}
}

// takenPodLabels reports labels in spec.podMetadata that the operator sets to another value. own are the labels that it sets.
func takenPodLabels(say says, f *v1.WorkloadFields, own map[string]string) {
	if f.PodMetadata == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(f.PodMetadata.Labels)) {
		if value, is := own[name]; is && value != f.PodMetadata.Labels[name] {
			say(faults.Key("spec.podMetadata.labels", name), "has no effect, because the operator sets this label of the pods to %q: remove it, or use another name", value)
		}
	}
}

// grpcRemarks reports fields of a gRPC server of Thanos that are for clients, or that refer to objects instead of files.
//
// mounts: the field for mounts of its container.
func grpcRemarks(say says, path, mounts string, t *v1.GRPCServerTLSConfig) {
	if t == nil {
		return
	}
	for _, row := range []struct {
		field, file string
		set         bool
	}{
		{"cert", "certFile", t.Cert.Secret != nil || t.Cert.ConfigMap != nil},
		{"keySecret", "keyFile", t.KeySecret != nil},
		{"ca", "caFile", t.CA.Secret != nil || t.CA.ConfigMap != nil},
	} {
		if row.set {
			say(path+"."+row.field, "has no effect, because the server reads files: mount the Secret or ConfigMap with spec.volumes and %s, and write its path into %s", mounts, row.file)
		}
	}
	for field := range given(
		clientconfig.Way{Field: "serverName", Given: t.ServerName != ""},
		clientconfig.Way{Field: "insecureSkipVerify", Given: t.InsecureSkipVerify != nil},
		clientconfig.Way{Field: "maxVersion", Given: t.MaxVersion != ""},
	) {
		say(path+"."+field, "has no effect on a server of Thanos: remove it")
	}
}

// given yields the fields that are set.
func given(fields ...clientconfig.Way) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range fields {
			if f.Given && !yield(f.Field) {
				return
			}
		}
	}
}

// clientVersionRemarks reports versions of TLS for connections to other members of a cluster of Alertmanagers.
func clientVersionRemarks(say says, t *v1.SafeTLSConfig) {
	for field := range given(clientconfig.Way{Field: "minVersion", Given: t.MinVersion != ""}, clientconfig.Way{Field: "maxVersion", Given: t.MaxVersion != ""}) {
		say("spec.clusterTLS.client."+field, "has no effect, because the operator does not write it: write spec.clusterTLS.server.%s, which limits each connection of the cluster", field)
	}
}

// sidecarMountRemarks reports the first mount of a Thanos sidecar that mounts more than it says, because the operator uses
// only its name and path. That it is writable does no harm.
func sidecarMountRemarks(say says, mounts []corev1.VolumeMount) {
	for i, m := range mounts {
		field := "subPath"
		switch {
		case m.SubPathExpr != "":
			field = "subPathExpr"
		case m.SubPath == "":
			continue
		}
		say(faults.Index("spec.thanos.volumeMounts", i)+"."+field, "has no effect, so the whole volume is mounted: write the mount into container thanos-sidecar of spec.containers instead")
		return
	}
}

// daemonSetRemarks reports fields of a StatefulSet that an agent with a DaemonSet has.
func daemonSetRemarks(say says, f *v1.WorkloadFields) {
	for field := range given(
		clientconfig.Way{Field: "podManagementPolicy", Given: f.PodManagementPolicy != ""},
		clientconfig.Way{Field: "serviceName", Given: f.ServiceName != ""},
		clientconfig.Way{Field: "updateStrategy", Given: f.UpdateStrategy != nil},
	) {
		say("spec."+field, "has no effect with mode: DaemonSet: remove it")
	}
}
