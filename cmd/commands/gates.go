package commands

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"

	promclient "github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/kube/startup"
)

// Feature gates.
const (
	gateAgentDaemonSet   = "PrometheusAgentDaemonSet"
	gateTopologySharding = "PrometheusTopologySharding"
	gateShardRetention   = "PrometheusShardRetentionPolicy"
	gateConfigStatus     = "StatusForConfigurationResources"
	gateRemoteWriteCRD   = "RemoteWriteCustomResourceDefinition" // reserved, always disabled
)

var gateDefaults = map[string]bool{
	gateAgentDaemonSet:   false,
	gateTopologySharding: true,
	gateShardRetention:   true,
	gateConfigStatus:     false,
	gateRemoteWriteCRD:   false,
}

// gateHelp lists the gates with their defaults.
func gateHelp() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(gateDefaults)) {
		out = append(out, fmt.Sprintf("%s (%t)", name, gateDefaults[name]))
	}
	return strings.Join(out, ", ")
}

// featureGates are the gates that the user has set.
type featureGates map[string]bool

// On reports whether a gate is enabled.
func (g featureGates) On(name string) bool {
	if name == gateRemoteWriteCRD {
		return false
	}
	if on, set := g[name]; set {
		return on
	}
	return gateDefaults[name]
}

// Set implements [kingpin.Value].
func (g *featureGates) Set(text string) error {
	if *g == nil {
		*g = featureGates{}
	}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		if _, known := gateDefaults[name]; !known {
			return fmt.Errorf("unknown feature gate %q: known are %s", name, gateHelp())
		}
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		if !ok || err != nil {
			return fmt.Errorf("feature gate %q: want %s=true or %s=false", name, name, name)
		}
		(*g)[name] = on
	}
	return nil
}

// String lists the gates that the user has set, with their state.
func (g *featureGates) String() string {
	if g == nil || *g == nil {
		return ""
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(*g)) {
		out = append(out, fmt.Sprintf("%s=%t", name, (*g)[name]))
	}
	return strings.Join(out, ",")
}

// IsCumulative reports that the flag may be repeated.
func (g *featureGates) IsCumulative() bool { return true }

// State lists all gates with their state, including defaults.
func (g featureGates) State() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(gateDefaults)) {
		out = append(out, fmt.Sprintf("%s=%t", name, g.On(name)))
	}
	return strings.Join(out, ",")
}

// exposeGates exposes the feature gates as metrics.
func exposeGates(reg promclient.Registerer, gates featureGates) {
	v := promclient.NewGaugeVec(promclient.GaugeOpts{
		Name: "prometheus_operator_feature_gate", Help: "1 if the feature gate is enabled, else 0.",
	}, []string{"name"})
	reg.MustRegister(v)
	for name := range gateDefaults {
		value := 0.0
		if gates.On(name) {
			value = 1
		}
		v.WithLabelValues(name).Set(value)
	}
}

// mayUseGates checks the permissions that enabled feature gates require for a kind, so that agents do
// not silently lack their pods, or objects their status. The roles of the reference do not grant writes
// of AlertmanagerConfig statuses. These are skipped with a warning instead.
func mayUseGates(ctx context.Context, kube kubernetes.Interface, s *engine.Setup, configs informer.Namespaces, log *slog.Logger) error {
	own, patience := s.Instances.Watches(), &startup.Patience{Log: log}
	if s.DaemonSets != "" {
		needs := startup.Permissions("apps", "daemonsets", own, "get", "list", "watch", "create", "update", "delete")
		if err := mayUseGate(ctx, kube, patience, gateAgentDaemonSet, needs); err != nil {
			return err
		}
	}
	if !s.ConfigStatus {
		return nil
	}
	var needs []startup.Permission
	for _, r := range required(s.Kind) {
		needs = append(needs, startup.Permissions(r.Group, r.Resource+"/status", configs.Watches(), "update", "patch")...)
	}
	needs = append(needs, startup.Permissions(s.Group, s.Resource, own, "patch")...) // for the finalizer
	err := mayUseGate(ctx, kube, patience, gateConfigStatus, needs)
	if missing, is := errors.AsType[*startup.MissingError](err); is && s.Row == catalog.Alertmanager {
		s.ConfigStatus = false
		log.Warn("the statuses of AlertmanagerConfigs are not written", "feature_gate", gateConfigStatus, "reason", missing)
		return nil
	}
	return err
}

func mayUseGate(ctx context.Context, kube kubernetes.Interface, patience *startup.Patience, gate string, needs []startup.Permission) error {
	if err := startup.Require(ctx, kube, patience, needs); err != nil {
		return fmt.Errorf("--feature-gates=%s=true: %w", gate, err)
	}
	return nil
}
