package alertmanager

import (
	"errors"
	"fmt"
	"math"
	"net"

	"github.com/alecthomas/units"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// checks are the rules for the fields of this kind, in the order in which they are checked.
var checks = []workload.Check[*builder]{
	{Field: "spec.alertmanagerConfiguration", Fault: (*builder).checkConfiguration},
	{Fault: func(b *builder) error {
		return workload.CheckUserMounts(v1.AlertmanagerKind, b.spec.Secrets, b.spec.ConfigMaps)
	}},
	{Field: "spec.secrets", Fault: workload.Each(func(b *builder) []string { return b.spec.Secrets }, workload.NonEmptyName)},
	{Field: "spec.configMaps", Fault: workload.Each(func(b *builder) []string { return b.spec.ConfigMaps }, workload.NonEmptyName)},
	{Field: "spec.retention", Fault: workload.GoDuration(func(b *builder) v1.GoDuration { return b.spec.Retention })},
	{Field: "spec.clusterGossipInterval", Fault: workload.PositiveGoDuration(func(b *builder) v1.GoDuration { return b.spec.ClusterGossipInterval })},
	{Field: "spec.clusterPushpullInterval", Fault: workload.PositiveGoDuration(func(b *builder) v1.GoDuration { return b.spec.ClusterPushpullInterval })},
	{Field: "spec.clusterPeerTimeout", Fault: workload.GoDuration(func(b *builder) v1.GoDuration { return b.spec.ClusterPeerTimeout })},
	{Field: "spec.externalUrl", Fault: (*builder).checkURL},
	{Field: "spec.limits", Fault: (*builder).checkLimits},
	{Field: "spec.clusterAdvertiseAddress", Fault: func(b *builder) error {
		if b.spec.ClusterAdvertiseAddress == "" {
			return nil
		}
		return checkHostPort(b.spec.ClusterAdvertiseAddress)
	}},
	{Field: "spec.additionalPeers", Fault: workload.Each(func(b *builder) []string { return b.spec.AdditionalPeers }, checkHostPort)},
	{Fault: func(b *builder) error { return b.CheckRoutePrefix() }},
	{Fault: func(b *builder) error { return b.clusterTLS().Check() }},
}

// Check returns the faults of the spec with which the server would not start.
func (b *builder) Check() error { return workload.CheckSpec(b.Base, checks, b) }

// checkConfiguration checks that references to be mounted are complete, which volumes
// require.
func (b *builder) checkConfiguration() error {
	if c := b.spec.AlertmanagerConfiguration; c != nil {
		if err := workload.NonEmptyName(c.Name); err != nil {
			return faults.At("name", err)
		}
	}
	for i, ref := range b.templates() {
		at := faults.Index("templates", i)
		if ref.Secret == nil && ref.ConfigMap == nil {
			return faults.At(at, errors.New("needs secret or configMap"))
		}
		if err := workload.KeyToMount(ref.Secret); err != nil {
			return faults.At(at+".secret", err)
		}
		if err := workload.ConfigMapKeyToMount(ref.ConfigMap); err != nil {
			return faults.At(at+".configMap", err)
		}
	}
	return nil
}

func (b *builder) checkURL() error {
	u, err := workload.ParseURL(b.spec.ExternalURL)
	switch {
	case b.spec.ExternalURL == "":
		return nil
	case err != nil:
		return err
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must start with http:// or https://")
	case u.Host == "":
		return errors.New("must have a host")
	}
	return nil
}

func (b *builder) checkLimits() error {
	l := b.spec.Limits
	switch {
	case l == nil:
		return nil
	case l.MaxSilences != nil && *l.MaxSilences < 0:
		return faults.At("maxSilences", errors.New("must not be negative"))
	case l.MaxPerSilenceBytes != "":
		_, err := bytesOf(l.MaxPerSilenceBytes)
		return faults.At("maxPerSilenceBytes", err)
	}
	return nil
}

// bytesOf parses a size. All units are powers of 1024.
func bytesOf(size v1.ByteSize) (int64, error) {
	if size == "0" {
		return 0, nil
	}
	n, err := units.ParseBase2Bytes(string(size))
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a size such as 1MB", size)
	case n < 0 || int64(n) == math.MaxInt64:
		return 0, fmt.Errorf("%q is out of range", size)
	}
	return int64(n), nil
}

func checkHostPort(address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return errors.New("must be HOST:PORT")
	}
	return nil
}
