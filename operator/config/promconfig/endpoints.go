package promconfig

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// monitor is a ServiceMonitor or PodMonitor, which has one job per endpoint.
type monitor struct {
	object   metav1.Object
	kind     string
	resource string // its name in excludedFromEnforcement
	list     string // field of the endpoints in the spec
	path     string // path of the endpoints

	// spec holds the fields that both kinds have.
	spec *v1.ServiceMonitorSpec
	// roles are the role of the discovery and those of other objects that the selector applies to.
	roles []string
	// sharded means that each target is assigned to one shard.
	sharded bool

	// check validates endpoint i and resolves its references.
	check func(i int) (client, error)
	// steps returns the operator's relabel steps for endpoint i, which precede the user's.
	steps func(i int) stepList
	// job arranges the parts of a job.
	job func(JobHead, client, JobTail) any
}

// compileEndpoints writes one job per endpoint.
func (c *compiler) compileEndpoints(m *monitor) error {
	if err := c.checkMonitor(m); err != nil {
		return err
	}
	clients := make([]client, len(m.spec.Endpoints))
	class, err := c.checkEndpoints(m.list, len(clients), m.spec.ScrapeClass, func(i int) (err error) {
		clients[i], err = m.check(i)
		return err
	})
	if err != nil {
		return err
	}
	sd, err := c.watched(m, class)
	if err != nil {
		return err
	}
	var errs faults.List
	for i := range clients {
		job, err := c.endpointJob(m, i, class, sd, clients[i])
		if err != nil {
			errs.Add(faults.Index(m.list, i), err)
			continue
		}
		if err := c.write(job); err != nil {
			return err
		}
		clients[i] = client{} // together they take as much memory as the text
	}
	return errs.Err()
}

// checkMonitor validates the fields that the endpoints share.
func (c *compiler) checkMonitor(m *monitor) error {
	spec := m.spec
	if err := checkSelector(&spec.Selector); err != nil {
		return err
	}
	if err := checkMechanism(spec.SelectorMechanism, c.s.target); err != nil {
		return err
	}
	return errors.Join(checkBodySize(spec.BodySizeLimit), checkLabelCopies("targetLabels", spec.TargetLabels, c.rules),
		checkLabelCopies("podTargetLabels", spec.PodTargetLabels, c.rules))
}

// watched returns the discovery of the jobs of a monitor.
func (c *compiler) watched(m *monitor, class *v1.ScrapeClass) (*KubernetesSD, error) {
	api, err := c.apiServer()
	if err != nil {
		return nil, err
	}
	selectors, err := c.s.selectors(m.spec.SelectorMechanism, &m.spec.Selector, m.roles...)
	if err != nil {
		return nil, faults.At("selector", err)
	}
	namespaces := c.s.namespaces(m.spec.NamespaceSelector, m.object.GetNamespace())
	if err := checkNamespaces(m.kind, "namespaceSelector.matchNames", namespaces); err != nil {
		return nil, err
	}
	return &KubernetesSD{
		Role: m.roles[0], Namespaces: namespaces, APIServer: api, Selectors: selectors,
		AttachMetadata: c.s.attachMetadata(m.spec.AttachMetadata, class.AttachMetadata, m.roles[0]),
	}, nil
}

// apiServer resolves the workload's API server for the discovery of Kubernetes objects.
func (c *compiler) apiServer() (APIServer, error) {
	api, err := c.owner.apiServer(c.s.data.APIServerConfig)
	if err != nil {
		return APIServer{}, fmt.Errorf("the workload's %w", faults.At("spec.apiserverConfig", err))
	}
	return api, nil
}

// endpointJob returns the job of endpoint i.
func (c *compiler) endpointJob(m *monitor, i int, class *v1.ScrapeClass, sd *KubernetesSD, cl client) (_ any, err error) {
	spec, e := m.spec, &m.spec.Endpoints[i]
	head := JobHead{
		JobName:                  nameOfJob(m.kind, m.object, i),
		HonorLabels:              e.HonorLabels && !c.s.data.OverrideHonorLabels,
		HonorTimestamps:          honorTimestamps(e.HonorTimestamps, c.s.data.OverrideHonorTimestamps),
		TrackTimestampsStaleness: e.TrackTimestampsStaleness,
		ScrapeInterval:           e.Interval,
		ScrapeTimeout:            e.ScrapeTimeout,
		MetricsPath:              e.Path,
		Params:                   e.Params,
		Scheme:                   lower(e.Scheme),
		FollowRedirects:          e.FollowRedirects,
		EnableHTTP2:              e.EnableHTTP2,
	}
	head.KubernetesSD, head.Listed = c.s.discover(head.JobName, sd)
	if cl, err = c.finish(cl, e.Authorization, class); err != nil {
		return nil, err
	}
	enforced := c.s.enforcement(m.resource, m.object.GetNamespace(), m.object.GetName())
	tail := c.tail(tailInput{
		limits: spec.ScrapeLimits, histograms: spec.NativeHistogramConfig, protocols: spec.ScrapeProtocols,
		fallback: spec.FallbackScrapeProtocol, bodySize: spec.BodySizeLimit, class: class,
		metricRelabel: e.MetricRelabelConfigs, enforced: enforced,
	})
	steps := m.steps(i)
	steps.addClass(class)
	steps.addRelabel(e.RelabelConfigs, steps.fieldOf(m.path, i, "relabelings"))
	steps.addEnforced(enforced)
	if m.sharded {
		steps.addAll(c.s.shardBy(c.s.shardByAddress, head.KubernetesSD == nil), ShardingOrigin)
	}
	if head.Listed != nil {
		steps.hideListURL()
	}
	tail.RelabelConfigs = c.done(&steps)
	return m.job(head, cl, tail), nil
}

// checkEndpoints checks each endpoint of a monitor and returns its scrape class. It stops
// if the cluster is unreachable, because the remaining endpoints would wait for it, too.
func (c *compiler) checkEndpoints(list string, n int, className string, check func(i int) error) (*v1.ScrapeClass, error) {
	var errs faults.List
	for i := range n {
		if err := check(i); err != nil {
			errs.Add(faults.Index(list, i), err)
			if assets.IsTemporary(err) || errs.Full() {
				break
			}
		}
	}
	class, err := c.s.scrapeClass(className)
	errs.Add("", err)
	return class, errs.Err()
}
