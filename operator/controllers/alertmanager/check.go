package alertmanager

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"time"

	"github.com/alecthomas/units"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// errNoURL replaces the error of the URL parser, which contains the URL and any password
// in it.
var errNoURL = errors.New("not a valid URL")

// Check returns the first fault of the spec with which the server would not start.
func (b *builder) Check() error {
	if b.Err != nil {
		return b.Err
	}
	for _, check := range []func() error{
		b.checkConfiguration, b.checkMounts, b.checkDurations, b.checkURL, b.checkLimits, b.checkCluster,
		b.CheckRoutePrefix, b.WebConfig().Check, b.clusterTLS().Check,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkConfiguration checks that references to be mounted are complete, which volumes
// require.
func (b *builder) checkConfiguration() error {
	const field = "spec.alertmanagerConfiguration"
	if c := b.spec.AlertmanagerConfiguration; c != nil && c.Name == "" {
		return errors.New(field + ".name: must not be empty")
	}
	for i, ref := range b.templates() {
		if ref.Secret == nil && ref.ConfigMap == nil {
			return fmt.Errorf("%s.templates[%d]: needs secret or configMap", field, i)
		}
		if s := ref.Secret; s != nil && (s.Name == "" || s.Key == "") {
			return fmt.Errorf("%s.templates[%d].secret: needs a name and a key", field, i)
		}
		if m := ref.ConfigMap; m != nil && (m.Name == "" || m.Key == "") {
			return fmt.Errorf("%s.templates[%d].configMap: needs a name and a key", field, i)
		}
	}
	return nil
}

func (b *builder) checkMounts() error {
	for field, names := range map[string][]string{"secrets": b.spec.Secrets, "configMaps": b.spec.ConfigMaps} {
		for i, name := range names {
			if name == "" {
				return fmt.Errorf("spec.%s[%d]: must not be empty", field, i)
			}
		}
	}
	return nil
}

func (b *builder) checkDurations() error {
	for _, row := range []struct {
		field    string
		value    v1.GoDuration
		positive bool
	}{
		{"retention", b.spec.Retention, false},
		{"clusterGossipInterval", b.spec.ClusterGossipInterval, true},
		{"clusterPushpullInterval", b.spec.ClusterPushpullInterval, true},
		{"clusterPeerTimeout", b.spec.ClusterPeerTimeout, false},
	} {
		if row.value == "" {
			continue
		}
		d, err := time.ParseDuration(string(row.value))
		switch {
		case err != nil:
			return fmt.Errorf("spec.%s: %w", row.field, err)
		case d < 0, row.positive && d == 0:
			return fmt.Errorf("spec.%s: must be longer than 0", row.field)
		}
	}
	return nil
}

func (b *builder) checkURL() error {
	const field = "spec.externalUrl"
	u, err := url.Parse(b.spec.ExternalURL)
	switch {
	case b.spec.ExternalURL == "":
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", field, errNoURL)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%s: must start with http:// or https://", field)
	case u.Host == "":
		return fmt.Errorf("%s: must have a host", field)
	}
	return nil
}

func (b *builder) checkLimits() error {
	l := b.spec.Limits
	switch {
	case l == nil:
		return nil
	case l.MaxSilences != nil && *l.MaxSilences < 0:
		return errors.New("spec.limits.maxSilences: must not be negative")
	case l.MaxPerSilenceBytes != "":
		if _, err := bytesOf(l.MaxPerSilenceBytes); err != nil {
			return fmt.Errorf("spec.limits.maxPerSilenceBytes: %w", err)
		}
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

func (b *builder) checkCluster() error {
	if n := b.Replicas(); n > maxReplicas {
		return fmt.Errorf("spec.replicas: %d: at most %d are possible", n, maxReplicas)
	}
	if address := b.spec.ClusterAdvertiseAddress; address != "" {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return errors.New("spec.clusterAdvertiseAddress: must be HOST:PORT")
		}
	}
	for i, peer := range b.spec.AdditionalPeers {
		if _, _, err := net.SplitHostPort(peer); err != nil {
			return fmt.Errorf("spec.additionalPeers[%d]: must be HOST:PORT", i)
		}
	}
	return nil
}
