package alertmanager

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Version ranges that several decisions depend on. The others are in the table.
var (
	withClusterTLS   = workload.Versions{Since: "0.24.0"} // --cluster.tls-config and everything it needs
	withClusterLabel = workload.Versions{Since: "0.26.0"} // --cluster.label, which every cluster has
	withPodName      = workload.Versions{Since: "0.30.0"} // --cluster.peer-name and the variable that it uses
)

const startDelay = "dispatch.start-delay"

// args are the arguments before the user's.
var args = []workload.Row[*builder]{
	{Name: "config.file", Value: workload.Always[*builder](configOutFile)},
	{Name: "storage.path", Value: workload.Always[*builder](kind.Data.Dir)},
	{Name: "data.retention",
		Value: workload.NonEmpty(func(b *builder) v1.GoDuration {
			return cmp.Or(b.spec.Retention, wellknown.DefaultAlertmanagerRetention)
		})},
	{Name: "cluster.listen-address", Empty: true, Value: meshAddress},
	{Name: "web.listen-address", Value: listenAddress},
	{Name: "web.external-url", Value: workload.NonEmpty(func(b *builder) string { return b.spec.ExternalURL })},
	{Name: "enable-feature", In: workload.Versions{Since: "0.27.0"}, Field: "spec.enableFeatures",
		Value: workload.NonEmpty(func(b *builder) string { return strings.Join(b.spec.EnableFeatures, ",") })},
	{Name: "web.route-prefix", Value: func(b *builder) (string, bool) { return b.RoutePrefix(), true }},
	{Name: "web.get-concurrency", In: workload.Versions{Since: "0.17.0"}, Field: "spec.web.getConcurrency",
		Value: webNumber(func(w *v1.AlertmanagerWebSpec) *int32 { return w.GetConcurrency }, "")},
	// Without a unit, the value would not be a duration, and the server would not start.
	{Name: "web.timeout", In: workload.Versions{Since: "0.17.0"}, Field: "spec.web.timeout",
		Value: webNumber(func(w *v1.AlertmanagerWebSpec) *int32 { return w.Timeout }, "s")},
	{Name: "silences.max-silences", In: workload.Versions{Since: "0.28.0"}, Field: "spec.limits.maxSilences", Value: maxSilences},
	{Name: "silences.max-silence-size-bytes", In: workload.Versions{Since: "0.28.0"}, Field: "spec.limits.maxPerSilenceBytes", Value: maxSilenceBytes},
	{Name: startDelay, In: workload.Versions{Since: "0.30.0"}, Value: dispatchDelay},
	{Name: "log.level", Value: workload.UnlessDefault(func(b *builder) string { return b.spec.LogLevel }, "info")},
	{Name: "log.format", In: workload.Versions{Since: "0.16.0"}, Field: "spec.logFormat",
		Value: workload.UnlessDefault(func(b *builder) string { return b.spec.LogFormat }, "logfmt")},
	{Name: "cluster.advertise-address", Value: workload.NonEmpty(func(b *builder) string { return b.spec.ClusterAdvertiseAddress })},
	{Name: "cluster.gossip-interval", Value: workload.NonEmpty(func(b *builder) v1.GoDuration { return b.spec.ClusterGossipInterval })},
	{Name: "cluster.pushpull-interval", Value: workload.NonEmpty(func(b *builder) v1.GoDuration { return b.spec.ClusterPushpullInterval })},
	{Name: "cluster.peer-timeout", Value: workload.NonEmpty(func(b *builder) v1.GoDuration { return b.spec.ClusterPeerTimeout })},
	{Name: "cluster.peer-name", In: withPodName, Value: workload.Always[*builder]("$(" + podNameVar + ")")},
	{Name: "cluster.label", In: withClusterLabel, Empty: true, Value: clusterLabel},
	{Name: "cluster.peer", Each: peers},
	{Name: "cluster.peer", Each: func(b *builder) []string { return b.spec.AdditionalPeers }},
	// With the default of 6 hours, replaced pods would stay in the cluster.
	{Name: "cluster.reconnect-timeout", Value: workload.Always[*builder]("5m")},
	// Independent of spec.web, so that setting it later changes no argument.
	{Name: "web.config.file", In: kind.Web.In, Value: workload.Always[*builder](kind.Web.Path())},
	{Name: "cluster.tls-config", In: withClusterTLS, Field: "spec.clusterTLS",
		Value: func(b *builder) (string, bool) { return b.clusterTLS().Path(), b.spec.ClusterTLS != nil }},
}

// args returns the command line of the container.
//
// Errors: the user sets an argument that the operator sets.
func (b *builder) args() ([]string, error) {
	own, _ := workload.Fill(args, b.Version, b)
	all, err := workload.AppendUser("spec.additionalArgs", own, b.spec.AdditionalArgs)
	if err != nil {
		return nil, err
	}
	return workload.Render(all), nil
}

// Gates returns the gated arguments in the order in which they are written.
func Gates() []workload.Gate {
	return workload.GatesOf("alertmanager", args, newBuilder(&v1.Alertmanager{}, workload.Config{}))
}

// clustered reports whether the pods form a cluster.
func (b *builder) clustered() bool { return b.Replicas() != 1 || b.spec.ForceEnableClusterMode }

// meshAddress returns the cluster address. It is empty for a single pod, which disables
// clustering.
func meshAddress(b *builder) (string, bool) {
	if !b.clustered() {
		return "", true
	}
	return fmt.Sprintf("[$(%s)]:%d", podIPVar, meshPort), true
}

func listenAddress(b *builder) (string, bool) {
	if b.spec.ListenLocal {
		return workload.HostPort("127.0.0.1", serverPort), true
	}
	return fmt.Sprintf(":%d", serverPort), true
}

// webNumber returns the value of a number of spec.web with a unit.
func webNumber(get func(*v1.AlertmanagerWebSpec) *int32, unit string) func(*builder) (string, bool) {
	return func(b *builder) (string, bool) {
		if b.spec.Web == nil || get(b.spec.Web) == nil {
			return "", false
		}
		return strconv.Itoa(int(*get(b.spec.Web))) + unit, true
	}
}

func maxSilences(b *builder) (string, bool) {
	l := b.spec.Limits
	if l == nil || l.MaxSilences == nil {
		return "", false
	}
	return strconv.Itoa(int(*l.MaxSilences)), true
}

func maxSilenceBytes(b *builder) (string, bool) {
	l := b.spec.Limits
	if l == nil || l.MaxPerSilenceBytes == "" {
		return "", false
	}
	n, err := bytesOf(l.MaxPerSilenceBytes)
	return strconv.FormatInt(n, 10), err == nil // Check reports the error
}

// dispatchDelay returns the delay in which a pod only collects alerts, which is the time
// until it is considered available. An argument of the user takes precedence.
func dispatchDelay(b *builder) (string, bool) {
	own := slices.ContainsFunc(b.spec.AdditionalArgs, func(a v1.Argument) bool { name, _ := a.Flag(); return name == startDelay })
	return fmt.Sprintf("%ds", b.MinReadySeconds()), b.spec.MinReadySeconds != nil && !own
}

// clusterLabel returns the label that keeps pods of other objects out of the cluster. The
// user may set it to empty.
func clusterLabel(b *builder) (string, bool) {
	if b.spec.ClusterLabel != nil {
		return *b.spec.ClusterLabel, true
	}
	return b.Meta.Namespace + "/" + b.Meta.Name, true
}

// peers returns the addresses of all pods, even if there is only one.
func peers(b *builder) []string {
	domain := b.ServiceName()
	if b.Config.ClusterDomain != "" {
		domain = fmt.Sprintf("%s.%s.svc.%s.", domain, b.Meta.Namespace, b.Config.ClusterDomain)
	}
	var out []string
	for i := range min(b.Replicas(), v1.MaxReplicas) {
		out = append(out, fmt.Sprintf("%s-%d.%s:%d", b.PrefixedName(), i, domain, meshPort))
	}
	return out
}
