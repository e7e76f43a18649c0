package promconfig

import (
	"errors"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// checkScrapeClasses checks the rules that do not depend on the cluster.
func checkScrapeClasses(classes []v1.ScrapeClass, rules relabelRules) error {
	var errs faults.List
	defaults := ""
	for i := range classes {
		if errs.Full() {
			break
		}
		c := &classes[i]
		errs.Add(faults.Index("scrapeClasses", i), inClass(c, checkScrapeClass(c, rules)))
		if c.Default == nil || !*c.Default {
			continue
		}
		if defaults != "" {
			errs.Add(faults.Index("scrapeClasses", i)+".default", fmt.Errorf("%q and %q are both the default, and only one can be", defaults, c.Name))
		}
		defaults = c.Name
	}
	return errs.Err()
}

// inClass adds the name of a scrape class to its errors.
func inClass(c *v1.ScrapeClass, err error) error {
	return faults.Reword(err, func(f *faults.Finding) {
		f.Reason += fmt.Sprintf(" (scrape class %q)", excerpt.Of(c.Name, maxClassName))
	})
}

// maxClassName is the maximum length of the name of a scrape class in a message.
const maxClassName = 80

func checkScrapeClass(c *v1.ScrapeClass, rules relabelRules) error {
	return errors.Join(
		faults.At("relabelings", rules.check(c.RelabelConfigs)),
		faults.At("metricRelabelings", rules.check(c.MetricRelabelConfigs)),
		faults.At("tlsConfig", clientconfig.CheckTLS(c.TLSConfig)),
		faults.At("authorization", clientconfig.CheckAuthorization(c.Authorization)),
	)
}

// missingCredentials returns a warning for each class whose credentials do not exist. The reference operator never reads
// them, so this is no error: targets are scraped without.
func (r *resolver) missingCredentials(classes []v1.ScrapeClass) (warnings []faults.Finding) {
	for i := range classes {
		a := classes[i].Authorization
		if a == nil || a.Credentials == nil {
			continue
		}
		_, err := r.SecretKey(*a.Credentials)
		if !assets.IsNotFound(err) {
			continue
		}
		for _, f := range faults.Of(faults.At(faults.Index("spec.scrapeClasses", i)+".authorization.credentials", err)) {
			warnings = append(warnings, faults.Remark(f.Field, "%s, and targets are scraped without credentials", f.Reason))
		}
	}
	return warnings
}

// scrapeClass returns the named class, falling back to the default class, or an empty one
// if there is no default. An unknown name is an error.
func (s *Settings) scrapeClass(name string) (*v1.ScrapeClass, error) {
	for i := range s.data.ScrapeClasses {
		c := &s.data.ScrapeClasses[i]
		if name != "" && c.Name == name || name == "" && c.Default != nil && *c.Default {
			return c, nil
		}
	}
	if name != "" {
		if len(s.data.ScrapeClasses) == 0 {
			return nil, faults.At("scrapeClass", fmt.Errorf("the workload has no scrape class %q, nor any other: add it to its spec.scrapeClasses", name))
		}
		return nil, faults.At("scrapeClass", fmt.Errorf("the workload has no scrape class %q%s", name, s.classesBeside(name)))
	}
	return &v1.ScrapeClass{}, nil
}

// classesBeside suggests a class for an unknown name, or lists all classes.
func (s *Settings) classesBeside(name string) string {
	var names []string
	for i := range s.data.ScrapeClasses {
		names = append(names, s.data.ScrapeClasses[i].Name)
	}
	return manifest.Beside(name, names)
}

// mergedTLS merges the TLS blocks of a monitor and its class. Only paths that the monitor
// does not set are taken from the class, and no other fields. Without a block of the
// monitor, references of the class resolve in the workload's namespace.
func (s *Settings) mergedTLS(monitor *clientconfig.TLSConfig, class *v1.TLSConfig) *clientconfig.TLSConfig {
	switch {
	case monitor == nil:
		return clientconfig.NewTLSConfig(class, assetDir, s.data.Namespace)
	case class == nil:
		return monitor
	}
	out := *monitor
	if out.CAAsset+out.CAFile == "" {
		out.CAFile = class.CAFile
	}
	if out.CertAsset+out.CertFile == "" {
		out.CertFile = class.CertFile
	}
	if out.KeyAsset+out.KeyFile == "" {
		out.KeyFile = class.KeyFile
	}
	return &out
}

// mergeAuthorization merges the block of a monitor, already resolved to own, with that of
// its class. References of a class resolve in the workload's namespace, so they are only
// used for monitors in that namespace.
func (s *Settings) mergeAuthorization(r *resolver, monitor *v1.SafeAuthorization, own *clientconfig.Authorization, class *v1.Authorization) (*clientconfig.Authorization, error) {
	if monitor != nil && *monitor == (v1.SafeAuthorization{}) {
		monitor, own = nil, nil // an empty block means that of the class
	}
	if class == nil || monitor != nil && monitor.Credentials != nil {
		return own, nil
	}
	out := &clientconfig.Authorization{Type: clientconfig.AuthorizationType(class.Type)}
	if monitor != nil {
		out.Type = own.Type
	}
	switch {
	case class.Credentials == nil:
		out.CredentialsFile = class.CredentialsFile
	case r.Namespace() == s.data.Namespace:
		value, err := r.SecretKey(*class.Credentials)
		switch {
		case err == nil:
			out.Credentials = &value
		case !assets.IsNotFound(err):
			return nil, fmt.Errorf("scrape class credentials: %w", err)
		}
	}
	return out, nil
}
