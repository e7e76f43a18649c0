package promconfig

import (
	"errors"
	"fmt"
	"time"

	"github.com/alecthomas/units"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// The checks of this file reject what Prometheus would reject. Prometheus would reject the
// entire document, with all monitors of the workload, so reject only the invalid monitor.

// client is the HTTP client of a job.
type client struct {
	clientconfig.Client
	bearerToken     string
	bearerTokenFile string
}

func (c client) check() error {
	if err := clientconfig.AtMostOne(
		way("basicAuth", c.BasicAuth != nil), way("oauth2", c.OAuth2 != nil), way("authorization", c.Authorization != nil),
		way("bearerTokenSecret", c.bearerToken != ""), way("bearerTokenFile", c.bearerTokenFile != ""),
	); err != nil {
		return err
	}
	if c.TLS == nil {
		return nil
	}
	if hasCert, hasKey := c.TLS.CertAsset+c.TLS.CertFile != "", c.TLS.KeyAsset+c.TLS.KeyFile != ""; hasCert != hasKey {
		return faults.At("tlsConfig", errors.New("together with the scrape class there is only one of certificate and key"))
	}
	return nil
}

// checkAuthentication rejects an endpoint with two authentication methods, or with an
// authorization block without credentials. An empty block counts.
func checkAuthentication(h v1.HTTPConfigWithoutTLS) error {
	if err := clientconfig.AtMostOne(
		way("authorization", h.Authorization != nil), way("basicAuth", h.BasicAuth != nil),
		way("bearerTokenSecret", h.BearerTokenSecret != nil), way("oauth2", h.OAuth2 != nil),
	); err != nil {
		return err
	}
	if h.Authorization != nil && h.Authorization.Credentials == nil {
		return faults.At("authorization.credentials", errors.New("is missing"))
	}
	return nil
}

// finish merges the TLS and authorization blocks of the class with the monitor's and checks
// the result. Authorization is not merged if the monitor uses another authentication method.
func (c *compiler) finish(cl client, monitor *v1.SafeAuthorization, class *v1.ScrapeClass) (_ client, err error) {
	cl.TLS = c.s.mergedTLS(cl.TLS, class.TLSConfig)
	if cl.Authorization != nil || !cl.authenticates() {
		if cl.Authorization, err = c.s.mergeAuthorization(c.own, monitor, cl.Authorization, class.Authorization); err != nil {
			return cl, err
		}
	}
	return cl, cl.check()
}

// checkTimes rejects invalid intervals and timeouts.
func (c *compiler) checkTimes(interval, timeout v1.Duration) error {
	if err := checkEvery("interval", interval); err != nil {
		return err
	}
	return checkInterval(interval, timeout, c.s.data.ScrapeInterval)
}

// checkPorts rejects names that are not valid regular expressions, because they are used in relabel steps.
func (r relabelRules) checkPorts(port string, target *intstr.IntOrString) error {
	if err := r.checkRegex(port); err != nil {
		return faults.At("port", err)
	}
	if target != nil {
		if err := r.checkRegex(target.StrVal); err != nil {
			return faults.At("targetPort", err)
		}
	}
	return nil
}

// authenticates reports whether the job has an authentication method.
func (c client) authenticates() bool {
	return c.BasicAuth != nil || c.OAuth2 != nil || c.Authorization != nil || c.bearerToken != "" || c.bearerTokenFile != ""
}

// checkLabelCopies rejects labels that are not valid label names after sanitizing.
func checkLabelCopies(field string, labels []string, rules relabelRules) error {
	for i, l := range labels {
		if !rules.plain.valid(sanitize(l)) {
			return faults.At(faults.Index(field, i), fmt.Errorf("%q does not make a valid label name for the version", l))
		}
	}
	return nil
}

func checkBodySize(size v1.ByteSize) error {
	if size == "" {
		return nil
	}
	if _, err := units.ParseBase2Bytes(string(size)); err != nil {
		return faults.At("bodySizeLimit", fmt.Errorf("%q is not a size", size))
	}
	return nil
}

func checkDuration(field string, d v1.Duration) error {
	if d == "" {
		return nil
	}
	if _, err := model.ParseDuration(string(d)); err != nil {
		return faults.At(field, fmt.Errorf("%q is not a duration", d))
	}
	return nil
}

// checkEvery rejects invalid durations, and intervals that are too short.
func checkEvery[D ~string](field string, d D) error {
	if err := checkDuration(field, v1.Duration(d)); err != nil || d == "" {
		return err
	}
	parsed, _ := model.ParseDuration(string(d)) // valid
	return faults.At(field, budget.CheckInterval(time.Duration(parsed)))
}
